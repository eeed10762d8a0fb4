// Tells a screen reader what happens, a few words at a time.
import { byId, show } from "./dom.js";

const pause = 1000; // ms in which announcements are gathered
let waiting = [];
let timer = 0;
const seen = 5000; // ms for which a warning is shown
let hiding = 0;

// say announces words of ours.
export function say(text) {
  waiting.push(text);
  if (timer === 0) timer = setTimeout(tell, waiting.length > 1 ? pause : 50);
}

// sayNew announces that something new waits. Many of them become a number.
export function sayNew(what) {
  waiting.push({ what });
  if (timer === 0) timer = setTimeout(tell, pause);
}

// warn announces it to those who look, too, over the page: nothing moves.
export function warn(text) {
  say(text);
  const notice = byId("notice");
  notice.textContent = `${text}.`;
  show(notice, true);
  clearTimeout(hiding);
  hiding = setTimeout(() => show(notice, false), seen);
}

function tell() {
  const fresh = waiting.filter((item) => item.what);
  const texts = waiting.filter((item) => !item.what);
  if (fresh.length === 1) texts.push(`New: ${fresh[0].what}`);
  else if (fresh.length > 1) texts.push(`${fresh.length} new requests`);
  byId("live").textContent = texts.slice(-3).join(". ");
  waiting = [];
  timer = 0;
}
