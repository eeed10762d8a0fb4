// Copies text for other programs.
import { say, warn } from "./say.js";

// copy copies what an element shows. Browsers let only pages over TLS or of this machine
// do it: elsewhere it is selected.
export async function copy(node) {
  try {
    await navigator.clipboard.writeText(node.textContent);
    say("Copied");
    return true;
  } catch {
    getSelection().selectAllChildren(node);
    warn("It is selected: this browser does not let the page copy it");
    return false;
  }
}
