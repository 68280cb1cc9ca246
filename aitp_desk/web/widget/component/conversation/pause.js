// How long to wait before the next attempt, and waiting that the browser's return can end.

/** The pause after so many attempts: it doubles, with jitter, so that pages do not come back at once. */
export function pauseAfter(attempts, first, longest) {
  return Math.min(first * 2 ** (attempts - 1), longest) * (0.5 + Math.random() / 2);
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
