// What a person asks to see of an offer: arguments, changes of files, and how it was
// decided. It is asked for anew each time, and forgotten when it is hidden.
import { el } from "./dom.js";
import { diff } from "./diff.js";
import { reasonWord, stageWord, verdictWord } from "./words.js";

// detail makes the parts of an answer to permission.detail.
export function detail(answer, offer) {
  const parts = [];
  const add = (name, text) => {
    if (text) parts.push(el("h4", {}, name), el("pre", { tabindex: "0", "aria-label": name }, text));
  };
  add("Title, in the agent's words", answer.title);
  add("Arguments", answer.arguments);
  for (const change of answer.changes || []) add(`Change of ‹${change.path}›`, change.patch || diff(change.old || "", change.new || ""));
  for (const note of answer.notes || []) add("Beside it", note);
  if (answer.left > 0) parts.push(el("p", {}, `${answer.left} bytes more are not shown.`));
  if (parts.length === 0) parts.push(el("p", {}, "The agent sent no arguments and no changes."));
  if (offer.trace?.length) parts.push(el("h4", {}, "How it was judged"), trace(offer.trace));
  return parts;
}

function trace(stages) {
  return el("ol", { class: "trace" }, ...stages.map((step) =>
    el("li", {}, el("b", {}, stageWord(step.stage)), ` ${verdictWord(step.verdict)}: ${reasonWord(step.reason)} `, el("code", {}, step.reason))));
}
