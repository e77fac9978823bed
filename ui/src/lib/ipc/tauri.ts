/** The shell as a transport. The only file that depends on Tauri. */
import { Channel, invoke } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";
import type { Transport } from "./index";
import type { Update } from "./types";

/** Windows and Android serve custom schemes as `http://<scheme>.localhost`. */
const servesSchemesOverHttp = /Windows|Android/.test(navigator.userAgent);

export const shell: Transport = {
  request: (request) => invoke("request", { request }),

  async subscribe(topic, onBatch) {
    const channel = new Channel<Update[] | Update>();
    channel.onmessage = (message) => onBatch(Array.isArray(message) ? message : [message]);
    const id = await invoke<number>("subscribe", { topic, channel });
    return () => void invoke("unsubscribe", { id });
  },

  onFileDrop(handler) {
    // Loaded on demand: the window library is larger than all other code that talks to the shell.
    const listening = import("@tauri-apps/api/webview")
      .then(({ getCurrentWebview }) =>
        getCurrentWebview().onDragDropEvent(({ payload }) => {
          if (payload.type === "drop") handler({ type: "drop", paths: payload.paths });
          else handler({ type: payload.type === "leave" ? "leave" : "over" });
        }),
      )
      // Without permission to listen, files can still be attached by pasting or typing their path.
      .catch(() => () => undefined);
    return () => void listening.then((stop) => stop());
  },

  onErrand(handler) {
    // Without permission to listen, open requests are handled when the page loads.
    const listening = listen("errand", handler).catch(() => () => undefined);
    return () => void listening.then((stop) => stop());
  },

  blobUrl: (path) => (servesSchemesOverHttp ? `http://octo-blob.localhost/${path}` : `octo-blob://localhost/${path}`),
};
