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
    return "Notification" in window && Notification.permission !== "denied";
  }

  async ask() {
    this.on = !this.on && (await Notification.requestPermission()) === "granted";
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
    const note = new Notification("assent: an agent asks", { body: `${waiting} open`, tag: "assent" });
    note.onclick = () => { window.focus(); note.close(); };
  }
}
