// @vitest-environment jsdom
import { edits } from "$lib/app/edits.svelte";
import { newDraft } from "$lib/app/drafts.svelte";
import { libraryState } from "$lib/app/library-state.svelte";
import { sessionList } from "$lib/app/session-list.svelte";
import { navigation } from "$lib/app/navigation.svelte";
import { preferences } from "$lib/app/preferences.svelte";
import { toasts } from "$lib/app/toasts.svelte";
import { testids } from "$lib/testids";
import { ReplayCore } from "$lib/testing/replay-core";
import { installStubs, until, words } from "$lib/testing/dom";
import { setLanguage } from "$lib/words/words.svelte";
import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import SkillsView from "./SkillsView.svelte";

const replayed = new ReplayCore();
const { requests } = replayed;
let mounted: Record<string, unknown> | null = null;
const target = document.createElement("div");

const all = (id: string, within: ParentNode = target): HTMLElement[] => [
  ...within.querySelectorAll<HTMLElement>(`[data-testid="${id}"]`),
];
function get(id: string, within: ParentNode = target): HTMLElement {
  const element = all(id, within)[0];
  if (!element) throw new Error(`no ${id} in ${target.textContent}`);
  return element;
}
const row = (name: string): HTMLElement => {
  const row = all(testids.skillRow).find((row) => row.dataset["skill"] === name);
  if (!row) throw new Error(`no ${name}`);
  return row;
};
const names = (): string[] => all(testids.skillRow).map((row) => row.dataset["skill"] ?? "");
const toast = (): string => toasts.list.at(-1)?.text ?? "";

function type(field: HTMLElement, text: string): void {
  (field as HTMLInputElement | HTMLTextAreaElement).value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
}

beforeAll(() => {
  vi.setConfig({ testTimeout: 20_000 });
  installStubs();
  history.replaceState(null, "", "/?fast");
});

beforeEach(async () => {
  document.body.append(target);
  await setLanguage("en");
  await replayed.begin("main");
  await preferences.begin();
  await sessionList.begin();
  libraryState.begin();
  navigation.skills();
  mounted = mount(SkillsView, { target });
  await until(() => expect(names().length).toBeGreaterThan(3));
});

afterEach(async () => {
  if (mounted) await unmount(mounted);
  mounted = null;
  edits.clear();
  toasts.list = [];
  target.remove();
});

async function select(name: string): Promise<HTMLElement> {
  row(name).querySelector<HTMLElement>("[data-row-open]")?.click();
  await until(() => expect(words(get(testids.skillDetail))).toContain("Source"));
  return get(testids.skillDetail);
}

describe("the list of skills", () => {
  it("requests the skills of the open session's folder and shows each skill's problem", () => {
    expect(requests.find((call) => call.type === "list_skills")).toEqual({
      type: "list_skills",
      folder: "/home/mei/code/harbor",
    });
    expect(words(row("deploy-preview"))).toContain("Not accepted yet");
    expect(words(row("translate-ui"))).toContain("Cannot be read");
    expect(words(row("release-notes"))).toContain("Suggestion");
    expect(words(row("pdf-forms"))).toContain("Claude");
    expect(words(row("expense-report"))).toContain("Replaces another");
    expect(words(row("code-explorer"))).toContain("Built in");
  });

  it("filters by text and by source", async () => {
    get(`${testids.skillSources}-folder`).click();
    flushSync();
    expect(names()).toEqual(["review-rust", "deploy-preview", "lint-notes"]);
    get(`${testids.skillSources}-all`).click();
    type(get(testids.skillSearch), "pull requests");
    expect(names()).toEqual(["release-notes"]);
    type(get(testids.skillSearch), "no such skill");
    expect(words(target)).toContain("No skills match.");
  });

  it("enables and disables skills, except those that cannot be used", async () => {
    get(testids.skillOn, row("release-notes")).click();
    await until(() => expect(get(testids.skillOn, row("release-notes")).ariaChecked).toBe("false"));
    expect(replayed.last("switch_skill")).toMatchObject({
      skill: { name: "release-notes" },
      on: "off",
      automatic: null,
    });
    // A disabled skill cannot start automatically either.
    expect(get(testids.skillAutomatic, row("release-notes"))).toHaveProperty("disabled", true);
    for (const name of ["deploy-preview", "translate-ui", "lint-notes"])
      expect(get(testids.skillOn, row(name))).toHaveProperty("disabled", true);
    // Its author lets only the person start it.
    expect(get(testids.skillAutomatic, row("skill-creator"))).toHaveProperty("disabled", true);
    // Toggling the switch does not open the skill.
    expect(all(testids.skillDetail)).toHaveLength(0);
  });

  it("keeps a switch's position when the change is refused", async () => {
    replayed.refuse = "switch_skill";
    get(testids.skillOn, row("release-notes")).click();
    await until(() => expect(toast()).toContain("The disk is full."));
    expect(get(testids.skillOn, row("release-notes")).ariaChecked).toBe("true");
  });

  it("turns suggestions off and keeps the other library settings", async () => {
    get(testids.skillPropose).click();
    await until(() => expect(preferences.settings?.library.propose).toBe("off"));
    expect(replayed.last("change_settings")).toMatchObject({ patch: { library: { propose: "off", remember: "on" } } });
  });
});

describe("a skill", () => {
  it("from a project folder shows its text and scripts before it can be accepted", async () => {
    const detail = await select("deploy-preview");
    expect(words(get(testids.skillUntrusted))).toContain("Octo does not use it until you accept it");
    expect(words(detail)).toContain("3 files, 2 scripts");
    // Shows the raw source, including text Markdown would hide.
    expect(get(testids.skillSource).textContent).toContain("name: deploy-preview");
    get(testids.skillAccept).click();
    await until(() => expect(all(testids.skillUntrusted)).toHaveLength(0));
    expect(replayed.last("accept_skill")).toMatchObject({
      skill: { name: "deploy-preview", origin: "project" },
      seen: expect.stringContaining("scripts/push.sh") as string,
    });
    expect(get(testids.skillOn, row("deploy-preview"))).toHaveProperty("disabled", false);
  });

  it("starts a new session in its folder, before the text typed there", async () => {
    const draft = newDraft();
    await until(() => expect(draft.text).toBe(""));
    draft.text = "the last week";
    await select("review-rust");
    get(testids.skillUse).click();
    expect(navigation.view).toEqual({ page: "new", folder: "/home/mei/code/harbor" });
    expect(draft.text).toBe("/review-rust the last week");
    draft.text = "";
  });

  it("is edited in place: the draft outlives the page, and saving keeps the previous version", async () => {
    await select("release-notes");
    get(testids.skillEdit).click();
    flushSync();
    expect(get(testids.skillSave)).toHaveProperty("disabled", true);
    const text = (get(testids.skillText) as HTMLTextAreaElement).value;
    type(get(testids.skillText), `${text}6. Say thanks.\n`);
    if (mounted) await unmount(mounted);
    mounted = mount(SkillsView, { target });
    await until(() => expect(words(row("release-notes"))).toContain("Not saved"));
    row("release-notes").click();
    await until(() => expect((get(testids.skillText) as HTMLTextAreaElement).value).toContain("Say thanks"));
    get(testids.skillSave).click();
    await until(() => expect(all(testids.skillVersion)).toHaveLength(2));
    expect(replayed.last("save_skill")).toMatchObject({ from: text, text: `${text}6. Say thanks.\n` });
    expect(toast()).toContain("the earlier version is kept");
    expect(edits.size).toBe(0);
  });

  it("keeps the draft when saving fails", async () => {
    await select("release-notes");
    get(testids.skillEdit).click();
    flushSync();
    type(get(testids.skillText), "---\nname: release-notes\n---\nmine");
    replayed.refuse = "save_skill";
    get(testids.skillSave).click();
    await until(() => expect(toast()).toContain("The disk is full."));
    expect((get(testids.skillText) as HTMLTextAreaElement).value).toContain("mine");
  });

  it("changed elsewhere is overwritten only on request", async () => {
    await select("release-notes");
    get(testids.skillEdit).click();
    flushSync();
    type(get(testids.skillText), "mine");
    // Accepting the suggestion writes the file.
    replayed.core.library.skills({
      type: "answer_suggestion",
      id: "suggestion-1",
      answer: { type: "accept", text: null },
    });
    await until(() => get(testids.skillConflict));
    expect(get(testids.skillSave)).toHaveProperty("disabled", true);
    expect((get(testids.skillText) as HTMLTextAreaElement).value).toBe("mine");
    get(testids.skillConflict).querySelector("button")?.click();
    flushSync();
    expect(all(testids.skillConflict)).toHaveLength(0);
    expect(get(testids.skillSave)).toHaveProperty("disabled", false);
  });

  it("compares an earlier version with the current one and restores it as a new version", async () => {
    await select("release-notes");
    get(testids.skillVersion).click();
    await until(() => get(testids.skillRestoreVersion));
    const diff = target.querySelector(".version-body .diff");
    expect(words(diff ?? target)).toContain("3. Sort them by date.");
    get(testids.skillRestoreVersion).click();
    await until(() => expect(all(testids.skillVersion)).toHaveLength(2));
    expect(replayed.last("save_skill")).toMatchObject({ text: expect.stringContaining("Sort them by date") as string });
  });

  it("moves to the trash and can be restored", async () => {
    await select("expense-report");
    get(testids.skillDelete).click();
    await until(() => expect(toasts.list.at(-1)?.action?.label).toBe("Undo"));
    expect(names()).not.toContain("expense-report");
    toasts.list.at(-1)?.action?.run();
    await until(() => expect(names()).toContain("expense-report"));
    expect(replayed.last("restore_trash")).toMatchObject({ on_conflict: "ask", to: null });
  });

  it("is exported to a chosen folder, listing what was left out", async () => {
    await select("release-notes");
    get(testids.skillExport).click();
    await until(() => expect(toast()).toContain("release-notes.zip"));
    expect(replayed.last("export_skill")).toMatchObject({ to: "/home/mei/code/picked/release-notes.zip" });
    expect(toast()).toContain("argument-hint");
  });

  it("that is bundled can be neither edited nor deleted", async () => {
    await select("code-explorer");
    expect(all(testids.skillEdit)).toHaveLength(0);
    expect(all(testids.skillDelete)).toHaveLength(0);
    expect(all(testids.skillUse)).toHaveLength(1);
  });
});

describe("a suggestion", () => {
  it("is accepted unchanged", async () => {
    expect(all(testids.suggestionRow)).toHaveLength(2);
    expect(words(get(testids.suggestionDetail))).toContain("$0.02");
    get(testids.suggestionAccept).click();
    await until(() => expect(all(testids.suggestionRow)).toHaveLength(1));
    expect(replayed.last("answer_suggestion")).toEqual({
      type: "answer_suggestion",
      id: "suggestion-1",
      answer: { type: "accept", text: null },
    });
    expect(libraryState.suggestions).toBe(1);
    expect(words(row("release-notes"))).not.toContain("Suggestion");
  });

  it("can be edited before it is accepted", async () => {
    all(testids.suggestionRow)[1]?.click();
    flushSync();
    get(testids.suggestionEdit).click();
    flushSync();
    type(get(testids.suggestionText), "---\nname: rename-by-date\n---\nask first");
    expect(words(get(testids.suggestionAccept))).toBe("Accept as edited");
    get(testids.suggestionAccept).click();
    await until(() => expect(names()).toContain("rename-by-date"));
    expect(replayed.last("answer_suggestion")).toMatchObject({
      id: "suggestion-2",
      answer: { type: "accept", text: "---\nname: rename-by-date\n---\nask first" },
    });
  });

  it("is discarded, or turns suggestions off", async () => {
    get(testids.suggestionNever).click();
    await until(() => expect(all(testids.suggestionRow)).toHaveLength(1));
    expect(replayed.last("answer_suggestion")).toMatchObject({ answer: { type: "never" } });
    get(testids.suggestionDiscard).click();
    await until(() => expect(words(target)).toContain("No suggestions"));
    expect(replayed.last("answer_suggestion")).toMatchObject({ answer: { type: "discard" } });
  });
});

describe("an import", () => {
  async function inspect(): Promise<void> {
    get(testids.importOpen).click();
    flushSync();
    type(get(testids.importSource), "https://example.com/skills.git");
    get(testids.importSource).closest("form")?.requestSubmit();
    await until(() => expect(all(testids.importSkill)).toHaveLength(3));
  }
  const box = (name: string): HTMLElement => {
    const card = all(testids.importSkill).find((card) => card.dataset["skill"] === name);
    const checkbox = card?.querySelector<HTMLElement>('[role="checkbox"]');
    if (!checkbox) throw new Error(`no ${name}`);
    return checkbox;
  };

  it("accepts only a valid source", () => {
    get(testids.importOpen).click();
    flushSync();
    type(get(testids.importSource), "http://example.com/skills.git");
    expect(get(testids.importFind)).toHaveProperty("disabled", true);
  });

  it("lists its skills and replaces none that is not selected", async () => {
    await inspect();
    expect(requests.some((call) => call.type === "install_skills")).toBe(false);
    expect([box("changelog"), box("release-notes"), box("escape")].map((box) => box.ariaChecked)).toEqual([
      "true",
      "false",
      "false",
    ]);
    expect(box("escape")).toHaveProperty("disabled", true);
    expect(words(target)).toContain("git log --oneline -20");
    get(testids.importInstall).click();
    await until(() => expect(names()).toContain("changelog"));
    expect(replayed.last("install_skills")).toEqual({
      type: "install_skills",
      offer: "offer-1",
      names: ["changelog"],
      replace: [],
    });
  });

  it("replaces the selected skills", async () => {
    await inspect();
    box("release-notes").click();
    flushSync();
    expect(words(target)).toContain("1 of yours goes to the trash");
    get(testids.importInstall).click();
    await until(() => expect(replayed.last("install_skills")).toMatchObject({ replace: ["release-notes"] }));
  });

  it("shows why a source cannot be read", async () => {
    get(testids.importOpen).click();
    flushSync();
    type(get(testids.importSource), "https://example.com/nothing");
    get(testids.importSource).closest("form")?.requestSubmit();
    await until(() => expect(target.querySelector('[role="alert"]')).not.toBeNull());
    expect((get(testids.importSource) as HTMLInputElement).value).toBe("https://example.com/nothing");
  });
});
