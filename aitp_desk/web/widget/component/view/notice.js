// Tells of a message while the page is hidden: in its title, and by a sound if the owner wants one.

import { counted } from "../texts.js";

const BLINK_MS = 1000;
const SOUND_SECONDS = 0.3;

function playSound() {
  const audio = new AudioContext();
  const [tone, volume] = [audio.createOscillator(), audio.createGain()];
  tone.frequency.value = 660;
  volume.gain.value = 0.08;
  volume.gain.exponentialRampToValueAtTime(0.001, SOUND_SECONDS);
  tone.connect(volume).connect(audio.destination);
  tone.onended = () => audio.close();
  tone.start();
  tone.stop(SOUND_SECONDS);
}

export class Notice {
  /** @param {boolean} hasSound */
  constructor(hasSound) {
    this.hasSound = hasSound;
    this.count = 0;
    document.addEventListener("visibilitychange", () => this.end());
  }

  /** A message has arrived. */
  give() {
    if (!document.hidden) return;
    if (this.hasSound) playSound();
    this.title ??= document.title;
    this.count += 1;
    document.title = this.said = counted("unread", this.count);
    this.timer ??= setInterval(() => this.blink(), BLINK_MS);
  }

  blink() {
    document.title = document.title === this.said ? this.title : this.said;
  }

  end() {
    if (document.title === this.said) document.title = this.title;
    clearInterval(this.timer);
    this.timer = this.title = undefined;
    this.count = 0;
  }
}
