// @vitest-environment jsdom
import { ReplayCore } from "$lib/testing/replay-core";
import { until } from "$lib/testing/dom";
import { expect, it } from "vitest";
import { sessionList } from "./session-list.svelte";

it("keeps the loaded pages when the list changes", async () => {
  history.replaceState(null, "", "/?fast&sessions=400");
  const replayed = new ReplayCore();
  await replayed.begin("main");
  await sessionList.begin();
  const first = sessionList.sessions.length;
  await sessionList.more();
  expect(sessionList.sessions.length).toBe(first + 100);
  const [info] = sessionList.sessions;
  if (!info) throw new Error("no session");
  replayed.core.emit({ type: "sessions" }, { type: "session_listed", info: { ...info, title: "Named anew" } });
  await until(() => expect(sessionList.sessions.some(({ title }) => title === "Named anew")).toBe(true));
  expect(sessionList.sessions.length).toBe(first + 100);
});
