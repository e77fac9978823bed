// @vitest-environment jsdom
import { newSession } from "$lib/app/new-session.svelte";
import { sessionList } from "$lib/app/session-list.svelte";
import { navigation } from "$lib/app/navigation.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { testids } from "$lib/testids";
import { mountStage } from "$lib/testing/mount";
import { press, until, words, write } from "$lib/testing/dom";
import { wordsOf } from "$lib/words/words.svelte";
import { flushSync } from "svelte";
import { afterEach, describe, expect, it } from "vitest";
import App from "../../App.svelte";
import NewSession from "./NewSession.svelte";

const { replayed, target, show, all, get, close } = mountStage();

afterEach(() => {
  newSession.clear();
  navigation.fresh();
});

/** Opens a menu of the status bar, picks an unselected entry and returns it. */
function pickAnother(menu: string): string {
  const opening = Object.assign(new Event("beforetoggle"), { newState: "open" });
  get(menu).nextElementSibling?.dispatchEvent(opening);
  flushSync();
  const items = get(menu).nextElementSibling?.querySelectorAll<HTMLElement>(".menu-item") ?? [];
  const item = [...items].findLast((radio) => radio.ariaChecked === "false");
  const text = words(item?.querySelector(".truncate") ?? get(menu));
  item?.click();
  flushSync();
  return text;
}

describe("a new session", () => {
  it("has the given name, or one derived from its first message", async () => {
    await replayed.begin("main");
    await Promise.all([preferences.begin(), sessionList.begin()]);
    for (const [name, title] of [
      ["  The release of May ", "The release of May"],
      ["   ", undefined],
    ] as const) {
      show(NewSession, { place: "/work" });
      const field = get(testids.newTitle) as HTMLInputElement;
      write(field, name);
      press(field, "Enter");
      await until(() => expect(document.activeElement).toBe(get(testids.composer)));
      write(get(testids.composer) as HTMLTextAreaElement, "Say one");
      press(get(testids.composer), "Enter");
      await until(() => expect(replayed.last("start_session")?.folder).toBe("/work"));
      expect(replayed.last("start_session")?.title).toBe(title);
      await close();
      await replayed.begin("main");
    }
  });

  it("keeps its choices across pages until it starts", async () => {
    localStorage.clear();
    await replayed.begin("main");
    show(App, {});
    await until(() => expect(navigation.current?.state).toBeTruthy());
    navigation.fresh("/skill/folder");
    await until(() => get(testids.newTitle));
    const request = () => ({
      title: (get(testids.newTitle) as HTMLInputElement).value,
      folder: (get(testids.newFolder) as HTMLInputElement).value,
      profile: words(get(testids.profile).querySelector('[aria-pressed="true"]') ?? target),
      mode: words(get(testids.statusMode)),
      model: words(get(testids.statusModel)),
      effort: all(testids.statusEffort).map(words),
    });
    const first = request();
    write(get(testids.newTitle), "The release");
    write(get(testids.newFolder), "/elsewhere");
    pickAnother(testids.statusMode);
    pickAnother(testids.statusEffort);
    target.querySelector<HTMLElement>(`[data-testid="${testids.profile}"] button[aria-pressed="false"]`)?.click();
    flushSync();
    const chosen = request();
    expect(chosen).toMatchObject({ title: "The release", folder: "/elsewhere" });
    for (const field of ["profile", "mode", "effort"] as const) expect(chosen[field]).not.toEqual(first[field]);

    // Its search needs them.
    await wordsOf("zh");
    navigation.settings("data");
    await until(() => get(testids.settingsBack));
    get(testids.settingsBack).click();
    await until(() => get(testids.newTitle));
    expect(request()).toEqual(chosen);
    // Works for models too; this one takes no effort, the other one does.
    pickAnother(testids.statusModel);
    const { model } = request();
    expect(model).not.toBe(first.model);
    navigation.trash();
    navigation.fresh();
    await until(() => get(testids.newTitle));
    expect(request()).toEqual({ ...chosen, model, effort: [] });
    pickAnother(testids.statusModel);
    expect(request()).toEqual(chosen);

    // A failed start keeps its choices.
    replayed.refuse = "start_session";
    write(get(testids.composer), "Say one");
    press(get(testids.composer), "Enter");
    await until(() => expect(replayed.of("start_session").length).toBe(1));
    await until(() => expect((get(testids.composer) as HTMLTextAreaElement).value).toBe("Say one"));
    expect(request()).toEqual(chosen);
    replayed.refuse = null;
    press(get(testids.composer), "Enter");
    await until(() => expect(navigation.current?.state).toBeTruthy());
    expect(replayed.last("start_session")).toMatchObject({ title: "The release", folder: "/elsewhere" });
    navigation.fresh();
    await until(() => get(testids.newTitle));
    expect(request()).toMatchObject({ title: "", profile: first.profile, mode: first.mode, effort: first.effort });
  });
});

describe("the settings", () => {
  it("return to the previous page", async () => {
    await replayed.begin("main");
    await sessionList.begin();
    const goBack = (): void => {
      navigation.settings("about");
      navigation.settings("data");
      navigation.back();
    };
    const session = sessionList.sessions.at(-1)?.id ?? "";
    navigation.session(session);
    goBack();
    expect(navigation.current?.id).toBe(session);
    for (const page of ["new", "activity", "tasks", "skills", "memory", "usage", "trash"] as const) {
      if (page === "new") navigation.fresh();
      else navigation[page]();
      goBack();
      expect(navigation.view.page).toBe(page);
    }
    // Searching opens the list.
    navigation.settings();
    navigation.search();
    expect(navigation.view.page).toBe("trash");
    // Visiting the settings ends onboarding.
    navigation.welcome();
    goBack();
    expect(navigation.view.page).toBe("session");
  });
});
