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
import { installStubs, until, within, words } from "$lib/testing/dom";
import { setLanguage } from "$lib/words/words.svelte";
import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import KnowledgePage from "../settings/KnowledgePage.svelte";
import MemoryView from "./MemoryView.svelte";

const replayed = new ReplayCore();
let mounted: Record<string, unknown> | null = null;
const target = document.createElement("div");

const { all, get } = within(target);
const files = (): string[] => all(testids.memoryRow).map((row) => row.dataset["file"] ?? "");
const value = (id: string): string => (get(id) as HTMLTextAreaElement).value;
const persona = (kind: string): HTMLElement => {
  const match = all(testids.personaRow).find((row) => row.dataset["kind"] === kind);
  if (!match) throw new Error(`no ${kind}`);
  return match;
};

function type(id: string, text: string): void {
  const field = get(id) as HTMLInputElement;
  field.value = text;
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
  navigation.memory();
  mounted = mount(MemoryView, { target });
  await until(() => expect(files()).toHaveLength(3));
});

afterEach(async () => {
  if (mounted) await unmount(mounted);
  mounted = null;
  edits.clear();
  toasts.list = [];
  target.remove();
});

async function select(file: string): Promise<void> {
  all(testids.memoryRow)
    .find((row) => row.dataset["file"] === file)
    ?.click();
  await until(() => get(testids.memoryEdit));
}

async function edit(file: string, body: string): Promise<void> {
  await select(file);
  get(testids.memoryEdit).click();
  flushSync();
  type(testids.memoryText, body);
}

describe("memories", () => {
  it("are searchable and show their source when opened", async () => {
    type(testids.memorySearch, "thursdays");
    await until(() => expect(files()).toEqual(["harbor-release.md"]));
    await select("harbor-release.md");
    expect(words(get(testids.memoryDetail))).toContain("Written in Harbor: release 0.9 plan");
    expect(words(get(testids.memoryDetail))).toContain("~/.octo/memories/harbor-release.md");
    type(testids.memorySearch, "nothing like it");
    await until(() => expect(words(target)).toContain("No memories match."));
  });

  it("are saved with the version they were read with", async () => {
    await select("rust-style.md");
    get(testids.memoryEdit).click();
    flushSync();
    expect(get(testids.memorySave)).toHaveProperty("disabled", true);
    type(testids.memoryText, "- No unwrap.\n");
    get(testids.memorySave).click();
    await until(() => get(testids.memoryEdit));
    expect(replayed.last("save_memory")).toEqual({
      type: "save_memory",
      file: "rust-style.md",
      topic: "How Mei writes Rust",
      description: "Errors, tests and names she wants in every crate",
      body: "- No unwrap.\n",
      version: "1",
    });
    expect(words(get(testids.memoryDetail))).toContain("No unwrap.");
  });

  it("changed elsewhere keep the draft and are overwritten only on request", async () => {
    await edit("rust-style.md", "mine");
    replayed.core.library.touch("rust-style.md", "theirs");
    await until(() => get(testids.memoryConflict));
    expect(value(testids.memoryText)).toBe("mine");
    expect(get(testids.memorySave)).toHaveProperty("disabled", true);
    expect(words(target.querySelector(".diff") ?? target)).toContain("theirs");
    get(testids.memoryKeepMine).click();
    flushSync();
    get(testids.memorySave).click();
    await until(() => expect(replayed.last("save_memory")).toMatchObject({ body: "mine", version: "1+" }));
    await until(() => expect(all(testids.memoryConflict)).toHaveLength(0));
  });

  it("can be replaced by the version saved elsewhere", async () => {
    await edit("rust-style.md", "mine");
    replayed.core.library.touch("rust-style.md", "theirs");
    await until(() => get(testids.memoryConflict));
    get(testids.memoryTakeTheirs).click();
    flushSync();
    expect(value(testids.memoryText)).toBe("theirs");
    expect(all(testids.memoryConflict)).toHaveLength(0);
    get(testids.memoryDiscard).click();
    await until(() => get(testids.memoryEdit));
    expect(replayed.last("save_memory")).toBeUndefined();
  });

  it("keep the draft when saving fails, also across pages", async () => {
    await edit("rust-style.md", "mine");
    replayed.refuse = "save_memory";
    get(testids.memorySave).click();
    await until(() => expect(words(target)).toContain("The disk is full."));
    expect(words(target)).toContain("Your text is kept here.");
    if (mounted) await unmount(mounted);
    mounted = mount(MemoryView, { target });
    await until(() => expect(files()).toHaveLength(3));
    all(testids.memoryRow)[0]?.click();
    await until(() => expect(value(testids.memoryText)).toBe("mine"));
    get(testids.memoryDiscard).click();
    await until(() => expect(all(testids.memoryText)).toHaveLength(0));
  });

  it("count their characters and show when there are too many", async () => {
    await edit("rust-style.md", "👍".repeat(4000));
    expect(words(get(testids.memoryDetail))).toContain("4,000 of 4,000 characters");
    expect(words(get(testids.memoryDetail))).not.toContain("too long");
    type(testids.memoryText, "a".repeat(4001));
    expect(words(get(testids.memoryDetail))).toContain("That is too long.");
    get(testids.memoryDiscard).click();
    flushSync();
  });

  it("can be created by hand", async () => {
    get(testids.memoryNew).click();
    flushSync();
    type(testids.memoryTopic, " Coffee ");
    expect(get(testids.memorySave)).toHaveProperty("disabled", true);
    type(testids.memoryText, "Black.\n");
    get(testids.memorySave).click();
    await until(() => expect(files()[0]).toBe("coffee.md"));
    expect(replayed.last("save_memory")).toMatchObject({ file: null, topic: "Coffee", description: "", version: null });
  });

  it("move to the trash and can be restored", async () => {
    await select("报销.md");
    get(testids.memoryDelete).click();
    await until(() => expect(toasts.list.at(-1)?.action?.label).toBe("Undo"));
    expect(files()).not.toContain("报销.md");
    toasts.list.at(-1)?.action?.run();
    await until(() => expect(files()).toContain("报销.md"));
  });

  it("open the trash if the entry is ambiguous", async () => {
    replayed.refuse = "list_trash";
    await select("报销.md");
    get(testids.memoryDelete).click();
    await until(() => expect(toasts.list.at(-1)?.action?.label).toBe("Open trash"));
    toasts.list.at(-1)?.action?.run();
    expect(navigation.view.page).toBe("trash");
  });
});

describe("SOUL.md and USER.md", () => {
  it("show whether the text is custom, and use the default when emptied", async () => {
    expect(words(persona("soul"))).toContain("Octo's default");
    expect(words(persona("user"))).toContain("Your text");
    persona("user").click();
    await until(() => expect(words(get(testids.personaDetail))).toContain("Mei, in Taipei"));
    expect(words(get(testids.personaDetail))).toContain("Existing sessions keep the earlier text.");
    get(testids.personaReset).click();
    await until(() => expect(words(persona("user"))).toContain("Octo's default"));
    expect(replayed.last("save_persona")).toEqual({ type: "save_persona", kind: "user", text: "" });
    expect(words(get(testids.personaDetail))).toContain("without knowing you");
  });

  it("emptied by the button or by hand can be restored", async () => {
    persona("user").click();
    const detail = () => words(get(testids.personaDetail));
    for (const empty of [
      () => get(testids.personaReset).click(),
      () => {
        get(testids.personaEdit).click();
        flushSync();
        type(testids.personaText, "");
        get(testids.personaSave).click();
      },
    ]) {
      await until(() => expect(detail()).toContain("Mei, in Taipei"));
      toasts.list = [];
      empty();
      await until(() => expect(toasts.list.at(-1)?.action?.label).toBe("Undo"));
      expect(toasts.list.at(-1)?.text).toBe("Your text in USER.md went to the trash");
      expect(detail()).toContain("without knowing you");
      toasts.list.at(-1)?.action?.run();
    }
    await until(() => expect(detail()).toContain("Mei, in Taipei"));
    // Undo also works after writing to an empty persona.
    persona("soul").click();
    await until(() => get(testids.personaEdit));
    get(testids.personaEdit).click();
    flushSync();
    type(testids.personaText, "Be brief.");
    get(testids.personaSave).click();
    await until(() => expect(toasts.list.at(-1)?.text).toContain("SOUL.md saved"));
    toasts.list.at(-1)?.action?.run();
    await until(() => expect(words(get(testids.personaDetail))).toContain("You are Octo."));
  });

  it("are saved and show when the text exceeds what the model reads", async () => {
    persona("soul").click();
    await until(() => expect(words(get(testids.personaDetail))).toContain("You are Octo."));
    get(testids.personaEdit).click();
    flushSync();
    // The default in effect is not the person's text.
    expect(value(testids.personaText)).toBe("");
    type(testids.personaText, "Be brief. ".repeat(101));
    expect(words(get(testids.personaDetail))).toContain("Only the first 1,000 characters reach the model.");
    type(testids.personaText, "Be brief.");
    get(testids.personaSave).click();
    await until(() => expect(words(persona("soul"))).toContain("Your text"));
    expect(replayed.last("save_persona")).toEqual({ type: "save_persona", kind: "soul", text: "Be brief." });
  });

  it("open a new session for editing with Octo", async () => {
    persona("user").click();
    await until(() => get(testids.personaDetail));
    [...target.querySelectorAll("button")].find((button) => words(button) === "Edit with Octo")?.click();
    expect(navigation.view).toEqual({ page: "new", folder: "/home/mei/code/harbor" });
    await until(() => expect(newDraft().text).toBe("/onboard "));
    newDraft().text = "";
  });
});

describe("the skill and memory settings", () => {
  it("change separately, and the number of sub-agents stays within its limits", async () => {
    if (mounted) await unmount(mounted);
    mounted = mount(KnowledgePage, { target });
    flushSync();
    get(testids.libraryRemember).click();
    await until(() => expect(preferences.settings?.library.remember).toBe("off"));
    get(testids.libraryOtherAgents).click();
    await until(() => expect(preferences.settings?.library.other_agents).toBe("off"));
    type(testids.librarySubAgents, "9");
    get(testids.librarySubAgents).dispatchEvent(new Event("blur"));
    flushSync();
    expect(words(target)).toContain("Enter a whole number from 1 to 8.");
    type(testids.librarySubAgents, "8");
    get(testids.librarySubAgents).dispatchEvent(new Event("blur"));
    await until(() => expect(preferences.settings?.sub_agents).toBe(8));
    await until(() =>
      expect(preferences.settings?.library).toEqual({ other_agents: "off", propose: "on", remember: "off" }),
    );
  });
});
