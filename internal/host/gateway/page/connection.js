// The WebSocket to the server. It is made anew when it breaks, and then begins with
// the whole state again.

const firstDelay = 500; // ms
const maxDelay = 15000;
const patience = 8000; // for an answer, before a connection is taken for dead

// Connection calls back: ready(welcome, state), state(state) once more,
// event(name, payload), lost(ms until the next try, why where the server said so),
// refused(message) when the token is not good.
export class Connection {
  constructor(token, on) {
    this.token = token;
    this.on = on;
    this.tries = 0;
    this.next = 0;
    this.waiting = new Map(); // id -> { resolve, reject }
    this.ready = false;
    this.listening = new AbortController();
    addEventListener("online", () => this.now(), { signal: this.listening.signal });
    this.connect();
  }

  connect() {
    clearTimeout(this.retry);
    this.retry = 0;
    this.seq = 0;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws`);
    this.socket = socket;
    socket.onopen = () => this.begin(socket);
    socket.onmessage = (message) => this.take(JSON.parse(message.data));
    socket.onclose = (close) => {
      if (socket === this.socket) this.lose(close);
    };
  }

  // begin introduces the page and asks for the state.
  async begin(socket) {
    try {
      const welcome = await this.alive("auth", { token: this.token });
      const state = await this.ask("state.watch");
      this.tries = 0;
      this.ready = true;
      this.on.ready(welcome, state);
    } catch (failure) {
      if (failure.code !== "disconnected") this.fail(socket, failure);
    }
  }

  fail(socket, failure) {
    if (failure.code === "forbidden" || failure.code === "invalid_payload") this.refuse(failure.message);
    else this.drop(socket, failure.message);
  }

  // drop gives a connection up without waiting for its end: a dead one has none.
  drop(socket, why) {
    if (socket !== this.socket || socket.onclose === null) return;
    socket.onclose = null;
    socket.onmessage = null;
    socket.close();
    this.lose({}, why);
  }

  // alive sends a request whose answer is small. A connection that gives none is dead.
  async alive(action, payload) {
    const socket = this.socket;
    const late = setTimeout(() => this.drop(socket), patience);
    try {
      return await this.ask(action, payload);
    } finally {
      clearTimeout(late);
    }
  }

  // again asks for the state once more: after a gap, or when nobody has looked for
  // a long time and the connection may have died unnoticed.
  async again() {
    if (!this.ready) return;
    const socket = this.socket;
    try {
      await this.alive("question.list");
      this.on.state(await this.ask("state.watch"));
    } catch (failure) {
      if (failure.code !== "disconnected") this.fail(socket, failure);
    }
  }

  // ask sends a request. It fails with { code, message }.
  ask(action, payload = {}) {
    if (this.socket.readyState !== WebSocket.OPEN) {
      return Promise.reject({ code: "disconnected", message: "The page is not connected. Nothing was sent" });
    }
    const id = String(this.next++);
    this.socket.send(JSON.stringify({ id, action, payload }));
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  take(message) {
    if (message.event) {
      if (message.seq !== ++this.seq) {
        this.seq = message.seq;
        this.again();
      }
      this.on.event(message.event, message.payload);
      return;
    }
    const asked = this.waiting.get(message.id);
    if (!asked) return;
    this.waiting.delete(message.id);
    if (message.error) asked.reject(message.error);
    else asked.resolve(message.result);
  }

  lose(close, why) {
    this.ready = false;
    for (const asked of this.waiting.values()) {
      asked.reject({ code: "disconnected", message: "The connection broke before the server answered" });
    }
    this.waiting.clear();
    if (this.over) return;
    if (close.reason === "the token is deleted") {
      this.refuse("The token was deleted");
      return;
    }
    const delay = Math.min(maxDelay, firstDelay * 2 ** this.tries++) * (0.75 + Math.random() / 2);
    this.retry = setTimeout(() => this.connect(), delay);
    this.on.lost(delay, why);
  }

  // now tries at once.
  now() {
    if (this.retry) this.connect();
  }

  refuse(message) {
    this.end();
    this.on.refused(message);
  }

  // end closes the connection for good. Nothing is heard of it any more.
  end() {
    this.over = true;
    this.listening.abort();
    clearTimeout(this.retry);
    this.retry = 0;
    this.drop(this.socket);
  }
}
