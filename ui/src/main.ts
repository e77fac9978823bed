import "./styles/index.css";
import { type Transport, useTransport } from "$lib/ipc";
import { shell } from "$lib/ipc/tauri";
import { setLanguage, systemLanguage, withWords } from "$lib/words/words.svelte";
import { platform } from "$lib/app/platform";
import { mount } from "svelte";
import App from "./App.svelte";

document.documentElement.dataset["platform"] = platform;

/**
 * Returns the transport of the page in a plain browser: a replayed scene if the address names one, or else the real
 * core, by a test's socket or the development server.
 */
async function browserTransport(): Promise<Transport> {
  const query = new URLSearchParams(location.search);
  const scene = query.get("fake");
  if (scene !== null) {
    const { replay } = await import("$lib/ipc/fake");
    return replay(scene);
  }
  const { remote, serverWire, socketWire } = await import("$lib/ipc/remote");
  // Named in full: Vite looks for these words.
  const hot = import.meta.hot;
  return remote(
    hot
      ? serverWire(hot, query.get("seed") ?? "new")
      : await socketWire(`${location.origin.replace("http", "ws")}/core`),
  );
}

async function start(): Promise<void> {
  const plain = import.meta.env.DEV || import.meta.env.MODE === "fake";
  useTransport(plain && !("__TAURI_INTERNALS__" in window) ? await browserTransport() : shell);
  await setLanguage(systemLanguage());
  const target = document.getElementById("app");
  if (!target) return;
  if (new URLSearchParams(location.search).has("quick")) {
    const { default: QuickAsk } = await withWords(import("./components/start/QuickAsk.svelte"), "quick", "errors");
    mount(QuickAsk, { target });
  } else mount(App, { target });
}

void start();
