// What is open on the page stays so when it is loaded anew, in the same tab.

const place = "assent-open"; // in the storage of the tab: a list of names
const most = 200;

function names() {
  return JSON.parse(sessionStorage.getItem(place) ?? "[]");
}

// keepOpen opens a details element if the one with its name was open, and remembers it from then on.
export function keepOpen(details, name) {
  if (names().includes(name)) details.open = true;
  details.addEventListener("toggle", () => {
    const others = names().filter((other) => other !== name);
    if (details.open) others.push(name);
    sessionStorage.setItem(place, JSON.stringify(others.slice(-most)));
  });
}

// forgetOpen forgets what was open.
export function forgetOpen() {
  sessionStorage.removeItem(place);
}
