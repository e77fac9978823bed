// @vitest-environment jsdom
import { Replayed } from "$lib/testing/replayed";
import { until } from "$lib/testing/stage";
import { expect, it } from "vitest";
import { library } from "./library.svelte";

it("keeps the pages that were read when something changes in the list", async () => {
  history.replaceState(null, "", "/?fast&sessions=400");
  const replayed = new Replayed();
  await replayed.begin("main");
  await library.begin();
  const first = library.sessions.length;
  await library.more();
  expect(library.sessions.length).toBe(first + 100);
  const [info] = library.sessions;
  if (!info) throw new Error("no session");
  replayed.core.emit({ type: "sessions" }, { type: "session_listed", info: { ...info, title: "Named anew" } });
  await until(() => expect(library.sessions.some(({ title }) => title === "Named anew")).toBe(true));
  expect(library.sessions.length).toBe(first + 100);
});
