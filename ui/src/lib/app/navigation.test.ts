// @vitest-environment jsdom
import { ReplayCore } from "$lib/testing/replay-core";
import { installStubs, until } from "$lib/testing/dom";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { sessionList } from "./session-list.svelte";
import { navigation } from "./navigation.svelte";

const replayed = new ReplayCore();
/** Returns the current page as a word. */
const location = (): string => {
  const { view } = navigation;
  if (view.page === "session") return view.conversation.id;
  return view.page === "settings" ? `settings ${view.section}` : view.page;
};

beforeAll(installStubs);
beforeEach(async () => {
  await replayed.begin("main");
  await sessionList.begin();
});

it("goes back through visited places and forward again", () => {
  const [first = "", second = ""] = sessionList.sessions.map(({ id }) => id);
  navigation.session(first);
  navigation.session(second, "m");
  navigation.fresh("/somewhere");
  navigation.settings("rules");
  navigation.settings("data");
  // The settings' own back button returns to the previous page and adds a history entry.
  navigation.back();
  const visited = [location()];
  for (let step = 0; step < 5; step += 1) {
    navigation.step("back");
    visited.push(location());
  }
  expect(visited).toEqual(["new", "settings data", "settings rules", "new", second, first]);
  // The chosen folder stays, and a session reopens at its message.
  navigation.step("forward");
  expect(location()).toBe(second);
  navigation.step("forward");
  expect(navigation.view).toEqual({ page: "new", folder: null });
  // From here the history takes another branch.
  navigation.trash();
  navigation.step("forward");
  expect(location()).toBe("trash");
});

it("skips a deleted session until it is restored", async () => {
  const [first, second] = sessionList.sessions;
  if (!first || !second) throw new Error("no sessions");
  navigation.session(first.id);
  navigation.session(second.id);
  navigation.memory();
  replayed.core.emit({ type: "sessions" }, { type: "session_removed", id: second.id });
  await until(() => expect(sessionList.isGone(second.id)).toBe(true));
  navigation.step("back");
  expect(location()).toBe(first.id);
  replayed.core.emit({ type: "sessions" }, { type: "session_listed", info: second });
  await until(() => expect(sessionList.isGone(second.id)).toBe(false));
  navigation.step("forward");
  expect(location()).toBe(second.id);
});

it("does not return to onboarding", () => {
  navigation.usage();
  navigation.welcome();
  navigation.skills();
  navigation.step("back");
  expect(location()).toBe("usage");
});
