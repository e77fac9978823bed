import "./styles/index.css";
import { useTransport } from "$lib/ipc";
import { shell } from "$lib/ipc/tauri";
import { setLanguage, systemLanguage, withWords } from "$lib/words/words.svelte";
import { platform } from "$lib/app/platform";
import { mount } from "svelte";
import App from "./App.svelte";

document.documentElement.dataset["platform"] = platform;

async function start(): Promise<void> {
  const scene = new URLSearchParams(location.search).get("fake");
  if ((import.meta.env.DEV || import.meta.env.MODE === "fake") && scene !== null) {
    const { replay } = await import("$lib/ipc/fake");
    useTransport(await replay(scene));
  } else {
    useTransport(shell);
  }
  await setLanguage(systemLanguage());
  const target = document.getElementById("app");
  if (!target) return;
  if (new URLSearchParams(location.search).has("quick")) {
    const { default: QuickAsk } = await withWords(import("./components/start/QuickAsk.svelte"), "quick", "errors");
    mount(QuickAsk, { target });
  } else mount(App, { target });
}

void start();
