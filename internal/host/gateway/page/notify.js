// Notifications of the browser, for who asked for them. They hold no words of an agent:
// they may be shown on a locked screen.
import { byId, show } from "./dom.js";

const wish = "assent-notify";

export class Notifier {
  constructor() {
    this.button = byId("notify");
    this.button.addEventListener("click", () => this.ask());
    this.on = sessionStorage.getItem(wish) === "yes";
    this.update();
  }

  possible() {
    return !this.broken && "Notification" in window && Notification.permission !== "denied";
  }

  // ask switches notifications. It tries one: browsers of phones have the class, but
  // let no page use it.
  async ask() {
    this.on = !this.on && (await Notification.requestPermission()) === "granted";
    try {
      if (this.on) this.show("assent", "You will be notified");
    } catch {
      this.on = false;
      this.broken = true;
    }
    sessionStorage.setItem(wish, this.on ? "yes" : "no");
    this.update();
  }

  update() {
    show(this.button, this.possible());
    this.button.textContent = this.on ? "Do not notify me" : "Notify me";
  }

  // tell notifies of how many wait, when nobody looks at the page.
  tell(waiting) {
    if (!this.on || !document.hidden || !this.possible()) return;
    this.show("assent: an agent asks", `${waiting} open`);
  }

  // show notifies once more where a notification is shown already.
  show(title, body) {
    const note = new Notification(title, { body, tag: "assent", renotify: true });
    note.onclick = () => { window.focus(); note.close(); };
  }
}
