// @vitest-environment jsdom
import { navigation } from "$lib/app/navigation.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { rowOf } from "$lib/app/settings-highlight";
import { keyOf, pressed } from "$lib/app/shortcuts";
import { findSettings, settingsIndex } from "$lib/state/settings-index";
import { testids } from "$lib/testids";
import { settingsStage } from "$lib/testing/settings.svelte";
import { until } from "$lib/testing/dom";
import { t, wordsOf } from "$lib/words/words.svelte";
import { flushSync } from "svelte";
import { describe, expect, it } from "vitest";

const { replayed, target, props, open, close, all, get } = settingsStage();
const { requests } = replayed;

describe("the search in settings", () => {
  it("matches the words of both languages, titles first", async () => {
    const languages = await Promise.all([wordsOf("en"), wordsOf("zh")]);
    const titles = (query: string) => findSettings(query, languages).map(({ title }) => title);
    expect(titles("proxy")[0]).toBe("settings.proxy");
    expect(titles("代理")).toContain("settings.proxy");
    expect(titles("DELETE everything")[0]).toBe("data.erase.all");
    expect(titles("dark")).toContain("settings.theme");
    expect(titles("  ")).toEqual([]);
    expect(titles("xyzzy")).toEqual([]);
  });

  it("names only rows that exist on their pages", async () => {
    const pages = [...new Set(settingsIndex.map(({ page }) => page))];
    for (const page of pages) {
      await open(page);
      for (const { title } of settingsIndex.filter((entry) => entry.page === page)) {
        if (title.startsWith("settings.page.")) continue;
        const body = target.querySelector(".settings-page");
        await until(() => expect(body && rowOf(body, t(title)), `${title} on ${page}`).toBeTruthy());
      }
      await close();
    }
  });

  it("opens the page of a result and highlights its row", async () => {
    await open("models");
    const search = get(testids.settingsSearch) as HTMLInputElement;
    search.value = "字";
    search.dispatchEvent(new Event("input", { bubbles: true }));
    await until(() => expect(all(testids.settingsHit).length).toBeGreaterThan(0));
    const hit = all(testids.settingsHit).find((entry) => entry.textContent?.includes(t("settings.text_size")));
    hit?.click();
    expect(navigation.view).toMatchObject({ page: "settings", section: "appearance" });
    props.section = "appearance";
    await until(() => expect(target.querySelector(".found")?.textContent).toContain(t("settings.text_size")));
  });
});

describe("appearance and notifications", () => {
  it("apply at once and persist", async () => {
    await open("appearance");
    get(`${testids.textSize}-large`).click();
    await until(() => expect(document.documentElement.dataset["text"]).toBe("large"));
    get(`${testids.density}-roomy`).click();
    await until(() => expect(preferences.settings?.appearance).toMatchObject({ text: "large", density: "roomy" }));
    await until(() => expect(document.documentElement.dataset["density"]).toBe("roomy"));
    get(`${testids.theme}-dark`).click();
    await until(() => expect(document.documentElement.dataset["theme"]).toBe("dark"));
  });

  it("toggles each notification separately", async () => {
    await open("notifications");
    get(`${testids.notification}-finished`).click();
    await until(() =>
      expect(preferences.settings?.desktop.notices).toEqual({ finished: "off", failed: "on", question: "on" }),
    );
  });
});

describe("shortcuts", () => {
  const press = (id: string, key: string, more: KeyboardEventInit = {}): void => {
    const button = get(`${testids.shortcutKeys}-${id}`);
    button.dispatchEvent(
      new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ctrlKey: true, ...more }),
    );
    flushSync();
  };

  it("accept custom keys at once and can be reset", async () => {
    await open("shortcuts");
    const keys = () => get(`${testids.shortcutKeys}-palette`);
    keys().click();
    flushSync();
    expect(keys().textContent).toContain(t("shortcuts.press"));
    press("palette", "Control");
    press("palette", "p");
    await until(() => expect(preferences.settings?.shortcuts).toEqual({ palette: "Mod+P" }));
    await until(() => expect(keys().textContent).toBe(keyOf("palette")));
    expect(keyOf("palette", "linux")).toBe("Ctrl+P");
    expect(pressed(new KeyboardEvent("keydown", { key: "p", ctrlKey: true }), "typing")?.id).toBe("palette");
    expect(pressed(new KeyboardEvent("keydown", { key: "k", ctrlKey: true }), "typing")).toBeNull();
    get(testids.shortcutReset).click();
    await until(() => expect(preferences.settings?.shortcuts).toEqual({}));
    await until(() => expect(keyOf("palette", "linux")).toBe("Ctrl+K"));
  });

  it("reject keys in use and name their action", async () => {
    await open("shortcuts");
    const before = requests.length;
    for (const [key, more, message] of [
      ["n", {}, t("keys.new")],
      ["c", {}, t("shortcuts.reserved", { keys: "Ctrl+C" })],
      ["4", {}, t("shortcuts.reserved", { keys: "Ctrl+4" })],
      ["p", { ctrlKey: false }, t("shortcuts.press_sub", { mod: "Ctrl" })],
    ] as const) {
      get(`${testids.shortcutKeys}-search`).click();
      flushSync();
      press("search", key, more);
      expect(target.querySelector(".settings-page [role=status]")?.textContent, key).toContain(message);
      press("search", "Escape");
      expect(target.querySelector(".settings-page [role=status]"), key).toBeNull();
    }
    expect(requests.length).toBe(before);
  });
});

describe("tasks", () => {
  it("have a switch for all of them and defaults for new ones", async () => {
    await open("tasks");
    get(testids.tasksScheduled).click();
    await until(() => expect(preferences.settings?.tasks.at_their_times).toBe("off"));
    get(`${testids.tasksMissed}-ask`).click();
    await until(() => expect(preferences.settings?.tasks.missed).toBe("ask"));
    get(`${testids.tasksNotifications}-nothing`).click();
    await until(() =>
      expect(preferences.settings?.tasks).toEqual({ at_their_times: "off", missed: "ask", tell: "nothing" }),
    );
  });
});

describe("the proxy", () => {
  it("is tested as shown, and the result applies only to it", async () => {
    await open("models");
    get(testids.proxyTest).click();
    await until(() => expect(target.textContent).toContain(t("settings.proxy_works", { host: "github.com" })));
    expect(requests.find((call) => call.type === "try_proxy")).toMatchObject({ proxy: { type: "system" } });
    get(`${testids.proxy}-manual`).click();
    await until(() => expect(get(testids.proxyTest)).toHaveProperty("disabled", true));
    expect(target.textContent).not.toContain(t("settings.proxy_works", { host: "github.com" }));
    const field = get(testids.proxyAddress) as HTMLInputElement;
    field.value = "http://proxy.example:3128";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await until(() => expect(get(testids.proxyTest)).toHaveProperty("disabled", false));
    get(testids.proxyTest).click();
    await until(() => expect(target.querySelector("[role=alert]")?.textContent).toContain("github.com"));
    expect(preferences.settings?.proxy, "nothing was kept").toEqual({ type: "system" });
  });
});

describe("the data page", () => {
  it("shows the size of every part and backs up to a chosen folder", async () => {
    await open("data");
    await until(() => expect(all(testids.dataPart).length).toBe(9));
    expect(all(testids.dataPart)[0]?.dataset["part"]).toBe("blobs");
    get(testids.dataBackUp).click();
    await until(() => expect(get(testids.dataCopied).textContent).toContain("octo-backup"));
    expect(requests.find((call) => call.type === "back_up_home")).toMatchObject({ to: "/home/mei/code/picked" });
  });

  it("deletes everything only after the word is typed, and then offers only to quit", async () => {
    history.replaceState(null, "", "/?fast&left");
    await open("data");
    await until(() => expect(all(testids.dataPart).length).toBe(9));
    get(testids.dataErase).click();
    flushSync();
    const act = get(testids.eraseConfirm) as HTMLButtonElement;
    expect(act.disabled).toBe(true);
    const word = get(testids.eraseWord) as HTMLInputElement;
    for (const [text, disabled] of [
      ["delet", true],
      [" Delete ", false],
    ] as const) {
      word.value = text;
      word.dispatchEvent(new Event("input", { bubbles: true }));
      flushSync();
      expect(act.disabled).toBe(disabled);
    }
    expect(requests.some((call) => call.type === "erase_home")).toBe(false);
    act.click();
    await until(() => expect(get(testids.erased).textContent).toContain("diary.md"));
    expect(get(testids.eraseDialog).querySelectorAll("button").length).toBe(0);
  });

  it("deletes nothing while another Octo is running, and says so", async () => {
    history.replaceState(null, "", "/?fast&home=in-use");
    await open("data");
    await until(() => expect(all(testids.dataPart).length).toBe(9));
    get(testids.dataErase).click();
    flushSync();
    const word = get(testids.eraseWord) as HTMLInputElement;
    word.value = "delete";
    word.dispatchEvent(new Event("input", { bubbles: true }));
    flushSync();
    get(testids.eraseConfirm).click();
    await until(() => expect(get(testids.eraseDialog).textContent).toContain("Another Octo"));
    expect(all(testids.erased)).toEqual([]);
  });
});

describe("the report", () => {
  it("is shown in full before it is saved unchanged", async () => {
    await open("about");
    expect(all(testids.reportSave)).toEqual([]);
    get(testids.reportMake).click();
    await until(() => expect(get(`${testids.reportPart}-log`).textContent).toContain("the home is open"));
    for (const part of ["system", "checks", "settings"]) expect(get(`${testids.reportPart}-${part}`)).toBeTruthy();
    get(testids.reportSave).click();
    await until(() => expect(get(testids.reportSaved).textContent).toContain("octo-report"));
    expect(requests.find((call) => call.type === "save_diagnostics")).toMatchObject({ id: "1".padStart(32, "0") });
  });
});
