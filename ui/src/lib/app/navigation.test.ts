// @vitest-environment jsdom
import { Replayed } from "$lib/testing/replayed";
import { standIn, until } from "$lib/testing/stage";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { library } from "./library.svelte";
import { navigation } from "./navigation.svelte";

const replayed = new Replayed();
/** Returns the current page as a word. */
const here = (): string => {
  const { place } = navigation;
  if (place.page === "session") return place.conversation.id;
  return place.page === "settings" ? `settings ${place.section}` : place.page;
};

beforeAll(standIn);
beforeEach(async () => {
  await replayed.begin("main");
  await library.begin();
});

it("goes back through what one was at, and forward again", () => {
  const [first = "", second = ""] = library.sessions.map(({ id }) => id);
  navigation.session(first);
  navigation.session(second, "m");
  navigation.fresh("/somewhere");
  navigation.settings("rules");
  navigation.settings("data");
  // The settings' own back button returns to the previous page and adds a history entry.
  navigation.back();
  const seen = [here()];
  for (let step = 0; step < 5; step += 1) {
    navigation.step("back");
    seen.push(here());
  }
  expect(seen).toEqual(["new", "settings data", "settings rules", "new", second, first]);
  // The chosen folder stays, and a session reopens at its message.
  navigation.step("forward");
  expect(here()).toBe(second);
  navigation.step("forward");
  expect(navigation.place).toEqual({ page: "new", folder: null });
  // From here the history takes another branch.
  navigation.trash();
  navigation.step("forward");
  expect(here()).toBe("trash");
});

it("leaves out a session that was deleted, until it is restored", async () => {
  const [first, second] = library.sessions;
  if (!first || !second) throw new Error("no sessions");
  navigation.session(first.id);
  navigation.session(second.id);
  navigation.memory();
  replayed.core.emit({ type: "sessions" }, { type: "session_removed", id: second.id });
  await until(() => expect(library.isGone(second.id)).toBe(true));
  navigation.step("back");
  expect(here()).toBe(first.id);
  replayed.core.emit({ type: "sessions" }, { type: "session_listed", info: second });
  await until(() => expect(library.isGone(second.id)).toBe(false));
  navigation.step("forward");
  expect(here()).toBe(second.id);
});

it("does not lead back to the first run", () => {
  navigation.usage();
  navigation.welcome();
  navigation.skills();
  navigation.step("back");
  expect(here()).toBe("usage");
});
