// Browsers start no worker for a page that is opened as a file. There, one runs in a hidden frame of its page, so that
// the site's search works without a server.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = this.onerror = null;
      const base = new URL(url, document.baseURI);
      this.waiting = []; // messages sent before the script has run
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data: structuredClone(data) });
        setTimeout(() => this.tell("onmessage", event));
      };
      const load = (address) =>
        new Promise((done, failed) => {
          const script = frame.contentDocument.createElement("script");
          script.src = new URL(address, base);
          script.onload = done;
          script.onerror = failed;
          frame.contentDocument.head.appendChild(script);
        });
      this.inside.importScripts = (...addresses) =>
        addresses.reduce((earlier, address) => earlier.then(() => load(address)), Promise.resolve());
      load(base).then(
        () => {
          const waiting = this.waiting;
          this.waiting = null;
          waiting.forEach((data) => this.postMessage(data));
        },
        () => this.tell("onerror", new Event("error")),
      );
    }
    tell(handler, event) {
      this.dispatchEvent(event);
      if (this[handler]) this[handler](event);
    }
    postMessage(data) {
      if (this.waiting) this.waiting.push(data);
      else {
        const event = new this.inside.MessageEvent("message", { data: this.inside.structuredClone(data) });
        setTimeout(() => this.inside.dispatchEvent(event));
      }
    }
    terminate() {
      this.inside.frameElement.remove();
    }
  };
}
