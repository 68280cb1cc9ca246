// How long to wait before the next attempt, and waiting that the browser's return can end.

/** Pauses that double, with jitter, so that many pages do not come back at once. */
export class Backoff {
  constructor(first, longest) {
    this.first = first;
    this.longest = longest;
    this.reset();
  }

  reset() {
    this.pause = this.first;
  }

  next() {
    const pause = this.pause * (0.5 + Math.random() / 2);
    this.pause = Math.min(this.pause * 2, this.longest);
    return pause;
  }
}

/** Wait; `wake` ends it early. An infinite pause waits for that. */
export class Sleep {
  wake() {
    this.end?.();
  }

  for(pause) {
    return new Promise((go) => {
      const timer = Number.isFinite(pause) ? setTimeout(go, pause) : undefined;
      this.end = () => {
        clearTimeout(timer);
        go();
      };
    });
  }
}
