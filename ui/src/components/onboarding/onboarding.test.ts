// @vitest-environment jsdom
import { browser } from "$lib/app/browser.svelte";
import { libraryState } from "$lib/app/library-state.svelte";
import { sessionList } from "$lib/app/session-list.svelte";
import { navigation } from "$lib/app/navigation.svelte";
import { setUpAgain } from "$lib/app/onboarding.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import type { Settings } from "$lib/ipc/types";
import { testids } from "$lib/testids";
import { mountStage } from "$lib/testing/mount";
import { until } from "$lib/testing/dom";
import { flushSync } from "svelte";
import { beforeEach, describe, expect, it } from "vitest";
import Wizard from "./Wizard.svelte";

const { replayed, target, show, close, all, get } = mountStage();
const press = (id: string): void => {
  get(id).click();
  flushSync();
};
const title = (): string => target.querySelector("h1")?.textContent ?? "";
const step = (): string | undefined => get(testids.welcome).dataset["step"];
const saved = (): Settings["onboarding"] | undefined => preferences.settings?.onboarding;

function type(id: string, text: string): void {
  const field = get(id) as HTMLInputElement;
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
}

async function go(to: string): Promise<void> {
  press(`${testids.onboardingStep}-${to}`);
  await until(() => expect(step()).toBe(to));
}

/** Waits for the model form to list the providers. */
const ready = () => until(() => expect((get(testids.modelUrl) as HTMLInputElement).value).toContain("anthropic"));

const open = (): void => show(Wizard, {});

beforeEach(async () => {
  await replayed.begin("first-run");
  await preferences.begin();
  await sessionList.begin();
  browser.begin();
  libraryState.begin();
});

describe("the first run", () => {
  it("makes no network request by itself, and searches this computer only on request", async () => {
    open();
    await ready();
    expect(replayed.of("find_local_servers")).toEqual([]);
    expect(replayed.of("test_model")).toEqual([]);
    press(testids.modelFindLocal);
    await until(() => expect(get(`${testids.modelLocal}-ollama`)).toBeTruthy());
    await until(() => expect(get(testids.modelTest).textContent).toContain("api.anthropic.com"));
  });

  it("changes every label with the language and keeps typed text", async () => {
    open();
    await go("persona");
    type(testids.onboardingName, "Juno");
    press(`${testids.onboardingManner}-own`);
    type(testids.onboardingOwnManner, "like a gardener");
    const english = title();
    await preferences.change({ language: "zh" });
    await until(() => expect(title()).not.toBe(english));
    expect((get(testids.onboardingName) as HTMLInputElement).value).toBe("Juno");
    expect((get(testids.onboardingOwnManner) as HTMLInputElement).value).toBe("like a gardener");
    await preferences.change({ language: "en" });
  });

  it("resumes at the last step with the answers, but never the key", async () => {
    open();
    await ready();
    press(`${testids.modelProvider}-custom`);
    type(testids.modelUrl, "https://models.example/v1");
    type(testids.modelKey, "sk-secret-1234567890");
    await go("persona");
    type(testids.onboardingName, "Juno");
    type(testids.onboardingAbout, "I keep bees.");
    await close();
    await until(() => expect(saved()?.about).toBe("I keep bees."));
    expect(saved()?.step).toBe("persona");
    expect(JSON.stringify(replayed.requests)).not.toContain("sk-secret");

    open();
    await until(() => expect(step()).toBe("persona"));
    expect((get(testids.onboardingName) as HTMLInputElement).value).toBe("Juno");
    await go("model");
    await until(() => expect((get(testids.modelUrl) as HTMLInputElement).value).toBe("https://models.example/v1"));
    expect((get(testids.modelKey) as HTMLInputElement).value).toBe("");
  });

  it("keeps the input when a test fails, saves nothing and offers to save anyway", async () => {
    open();
    await ready();
    type(testids.modelKey, "wrong");
    press(testids.modelTest);
    await until(() => expect(get(testids.modelResult).dataset["check"]).toBe("fails"));
    expect((get(testids.modelKey) as HTMLInputElement).value).toBe("wrong");
    expect(replayed.of("save_model")).toEqual([]);
    expect(preferences.models).toEqual([]);
    expect(get(testids.modelSave).textContent).toContain("Save anyway");
    press(testids.modelSave);
    await until(() => expect(step()).toBe("persona"));
    expect(preferences.models.length).toBe(1);
  });

  it("saves the model and continues when a test succeeds", async () => {
    open();
    await ready();
    type(testids.modelKey, "sk-right");
    press(testids.modelTest);
    await until(() => expect(step()).toBe("persona"));
    expect(replayed.of("test_model").length).toBe(1);
    expect(preferences.models.length).toBe(1);
  });

  it("writes SOUL.md and USER.md as shown, only after approval", async () => {
    open();
    await go("persona");
    await until(() => expect(replayed.of("get_persona").length).toBe(1));
    expect(all(testids.onboardingSave)).toEqual([]);
    type(testids.onboardingName, "Juno");
    press(`${testids.onboardingManner}-concise`);
    type(testids.onboardingAbout, "I keep bees.");
    const soul = (get(`${testids.onboardingFile}-soul`) as HTMLTextAreaElement).value;
    expect(soul).toContain("Your name is Juno.");
    expect(soul).toContain("as short as");
    type(`${testids.onboardingFile}-user`, "I keep bees and write about them.");
    // A text edited by hand no longer follows the answers.
    type(testids.onboardingAbout, "Something else");
    expect(replayed.of("save_persona")).toEqual([]);
    press(testids.onboardingSave);
    await until(() => expect(step()).toBe("browser"));
    expect(replayed.of("save_persona")).toEqual([
      { type: "save_persona", kind: "soul", text: soul },
      { type: "save_persona", kind: "user", text: "I keep bees and write about them." },
    ]);
  });

  it("lists other agents' skills by source and imports only selected ones", async () => {
    open();
    await go("skills");
    await until(() =>
      expect(all(testids.otherSource).map((source) => source.dataset["agent"])).toEqual(["claude", "codex"]),
    );
    const row = (name: string): HTMLElement => {
      const row = all(testids.otherSkill).find((row) => row.dataset["skill"] === name);
      if (!row) throw new Error(`no ${name}`);
      return row;
    };
    const box = (name: string) => row(name).querySelector<HTMLButtonElement>("[role=checkbox]");
    for (const row of all(testids.otherSkill))
      expect(row.querySelector("[role=checkbox]")?.getAttribute("aria-checked")).toBe("false");
    expect(box("broken-one")?.disabled).toBe(true);
    expect(all(testids.otherImport)).toEqual([]);
    box("plan")?.click();
    box("release-notes")?.click();
    flushSync();
    press(`${testids.otherConflict}-replace`);
    press(testids.otherImport);
    await until(() => expect(replayed.of("import_skills").length).toBe(1));
    expect(replayed.of("import_skills")[0]).toMatchObject({
      choices: [
        { name: "release-notes", taken: "replace" },
        { name: "plan", taken: "keep" },
      ],
    });
    await until(() => expect(target.textContent).toContain("/plan"));
  });

  it("offers retry, help and skip when no browser is found", async () => {
    history.replaceState(null, "", "/?fast&no-browsers");
    open();
    await go("browser");
    await until(() => expect(get(testids.onboardingNoBrowser).textContent).toContain("144"));
    expect(get(testids.onboardingNoBrowser).querySelectorAll("button").length).toBe(2);
    press(testids.onboardingNext);
    await until(() => expect(step()).toBe("skills"));
  });

  it("skipped entirely leads to a usable new session and the default persona", async () => {
    open();
    for (const next of ["persona", "browser", "skills", "place", "first"]) {
      press(testids.onboardingNext);
      await until(() => expect(step()).toBe(next));
    }
    press(testids.onboardingNext);
    await until(() => expect(preferences.settings?.welcomed).toBe(true));
    await until(() => expect([saved()?.step, navigation.view.page]).toEqual([null, "new"]));
    expect(replayed.of("save_persona")).toEqual([]);
    expect(replayed.of("import_skills")).toEqual([]);
  });

  it("starts a session with one of three examples in the chosen folder and mode", async () => {
    open();
    await ready();
    type(testids.modelKey, "sk-1234567890");
    press(testids.modelSave);
    await until(() => expect(step()).toBe("persona"));
    await go("place");
    type(testids.onboardingFolder, "/home/mei/code/harbor");
    press(`${testids.defaultMode}-ask`);
    await until(() => expect(preferences.settings?.default_mode).toBe("ask"));
    await go("first");
    press(`${testids.onboardingTry}-tidy`);
    await until(() => expect([saved()?.step, navigation.view.page]).toEqual([null, "session"]));
    expect(replayed.of("start_session")[0]).toMatchObject({
      folder: "/home/mei/code/harbor",
      mode: "ask",
      blocks: [{ type: "text" }],
    });
  });

  it("can be skipped entirely and restarted from the settings", async () => {
    open();
    navigation.welcome();
    press(testids.onboardingSkipRest);
    await until(() => expect(navigation.view.page).toBe("new"));
    await close();
    await setUpAgain();
    expect([navigation.view.page, saved()?.step]).toEqual(["welcome", "language"]);
    open();
    expect(step()).toBe("language");
    press(testids.onboardingSkip);
    await until(() => expect(saved()?.step).toBeNull());
  });
});
