/** The skills visible in a folder, Octo's suggestions, and the actions on both. */
import { asApiError, call } from "$lib/ipc";
import type {
  ApiError,
  SkillCard,
  SkillExport,
  SkillRef,
  SkillSheet,
  SkillSuggestion,
  SuggestionAnswer,
  Switch,
} from "$lib/ipc/types";
import { baseName } from "$lib/format/figures";
import { matchingCards, keyOf, type SkillSource } from "$lib/state/skills";
import { t } from "$lib/words/words.svelte";
import { edits } from "./edits.svelte";
import { offerUndo } from "./trash-undo";
import type { Reading } from "./timeline.svelte";
import { toasts } from "./toasts.svelte";

/** The content of the right pane. */
export type SkillSelection =
  { readonly type: "inbox" } | { readonly type: "skill"; readonly skill: SkillRef } | { readonly type: "import" };

/** The state of the skills page while it is open. */
export class SkillsPage {
  skills = $state.raw<readonly SkillCard[]>([]);
  suggestions = $state.raw<readonly SkillSuggestion[]>([]);
  /** Whether the skills are loaded; until then no count is shown. */
  opened = $state(false);
  problem = $state.raw<ApiError | null>(null);
  query = $state("");
  source = $state<SkillSource>("all");
  /** The folder whose skills are included. */
  folder = $state<string | null>(null);
  selection = $state.raw<SkillSelection>({ type: "inbox" });
  /** The selected suggestion. */
  suggestion = $state<string | null>(null);
  /** The selected skill with its text. */
  sheet = $state.raw<Reading<SkillSheet>>({ type: "reading" });
  /** Whether a request is running, so that no second one is sent. */
  busy = $state(false);
  readonly shown = $derived(matchingCards(this.skills, this.source, this.query));
  readonly current = $derived(
    this.suggestions.find((suggestion) => suggestion.id === this.suggestion) ?? this.suggestions[0] ?? null,
  );
  #turn = 0;
  #sheetTurn = 0;

  constructor(folder: string | null) {
    this.folder = folder;
  }

  /** Reloads everything on the page. */
  async refresh(): Promise<void> {
    const turn = ++this.#turn;
    try {
      const [skills, suggestions] = await Promise.all([
        call("skills", "list_skills", { folder: this.folder }),
        call("skills", "list_suggestions", {}),
      ]);
      if (turn !== this.#turn) return;
      this.skills = skills.skills;
      this.suggestions = suggestions.suggestions;
      this.problem = null;
      this.opened = true;
      if (this.selection.type === "skill") await this.#readAgain(this.selection.skill);
    } catch (error) {
      if (turn === this.#turn) this.problem = asApiError(error);
    }
  }

  /** Reloads a skill; deselects it if it was removed, unless it has unsaved edits. */
  async #readAgain(skill: SkillRef): Promise<void> {
    const exists = this.skills.some((card) => keyOf(card.skill) === keyOf(skill));
    if (exists) await this.#read(skill);
    else if (!edits.has(editKey(skill))) this.inbox();
  }

  /** Switches to another folder's skills. */
  async enter(folder: string | null): Promise<void> {
    this.folder = folder;
    if (this.selection.type === "skill" && this.selection.skill.project !== null) this.inbox();
    await this.refresh();
  }

  inbox(): void {
    this.selection = { type: "inbox" };
  }

  /** Selects a suggestion. */
  open(suggestion: string): void {
    this.suggestion = suggestion;
    this.inbox();
  }

  /** Selects a skill. */
  async show(skill: SkillRef): Promise<void> {
    if (this.selection.type === "skill" && keyOf(this.selection.skill) === keyOf(skill)) return;
    this.selection = { type: "skill", skill };
    this.sheet = { type: "reading" };
    await this.#read(skill);
  }

  async #read(skill: SkillRef): Promise<void> {
    const turn = ++this.#sheetTurn;
    const isCurrent = (): boolean =>
      turn === this.#sheetTurn && this.selection.type === "skill" && keyOf(this.selection.skill) === keyOf(skill);
    try {
      const value = await call("skills", "get_skill", { skill });
      if (isCurrent()) this.sheet = { type: "read", value };
    } catch (error) {
      if (isCurrent()) this.sheet = { type: "failed", error: asApiError(error) };
    }
  }

  /** Reloads the selected skill. */
  async again(): Promise<void> {
    if (this.selection.type === "skill") await this.#read(this.selection.skill);
  }

  /** Enables or disables a skill, or whether the agent may start it on its own. */
  async turn(skill: SkillRef, change: { on?: Switch; automatic?: Switch }): Promise<void> {
    const { on = null, automatic = null } = change;
    await this.#do(async () => {
      await call("skills", "switch_skill", { skill, on, automatic });
      this.skills = this.skills.map((card) =>
        keyOf(card.skill) === keyOf(skill)
          ? { ...card, on: on ?? card.on, automatic: automatic ?? card.automatic }
          : card,
      );
    });
  }

  /** Accepts a folder's skill in the version shown. */
  async accept(skill: SkillRef, text: string): Promise<void> {
    await this.#do(() => call("skills", "accept_skill", { skill, seen: text }), "skills.accepted", skill.name);
    await this.refresh();
  }

  /** Saves a SKILL.md whose previous text is `from`; returns whether that succeeded. */
  async save(skill: SkillRef, from: string, text: string): Promise<boolean> {
    const saved = await this.#do(
      async () => {
        const value = await call("skills", "save_skill", { skill, from, text });
        edits.delete(editKey(skill));
        // Its name may have changed.
        this.selection = { type: "skill", skill: value.card.skill };
        this.sheet = { type: "read", value };
      },
      "skills.saved",
      skill.name,
    );
    await this.refresh();
    return saved;
  }

  /** Returns the text of an earlier version. */
  async version(skill: SkillRef, number: number): Promise<string> {
    return (await call("skills", "get_skill_version", { skill, number })).text;
  }

  /** Moves a skill to the trash and offers to undo it. */
  async remove(card: SkillCard): Promise<void> {
    const { skill, folder } = card;
    const deleted = await this.#do(() => call("skills", "delete_skill", { skill }));
    if (!deleted) return;
    edits.delete(editKey(skill));
    this.inbox();
    await Promise.all([
      this.refresh(),
      offerUndo("skill", [skill.name, baseName(folder)], t("skills.deleted", { name: skill.name })),
    ]);
  }

  /** Exports a skill as an archive; returns null on failure. */
  async export(skill: SkillRef, to: string): Promise<SkillExport | null> {
    let exported: SkillExport | null = null;
    await this.#do(async () => {
      exported = await call("skills", "export_skill", { skill, to });
    });
    return exported;
  }

  /** Answers a suggestion. */
  async answer(suggestion: SkillSuggestion, answer: SuggestionAnswer): Promise<void> {
    const done = await this.#do(
      () => call("skills", "answer_suggestion", { id: suggestion.id, answer }),
      `skills.answered.${answer.type}`,
      suggestion.name,
    );
    if (!done) return;
    edits.delete(suggestionKey(suggestion.id));
    await this.refresh();
  }

  async #do(
    request: () => Promise<unknown>,
    words: "skills.accepted" | "skills.saved" | `skills.answered.${SuggestionAnswer["type"]}` | null = null,
    name = "",
  ): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    try {
      await request();
      if (words !== null) toasts.show(t(words, { name }));
      return true;
    } catch (error) {
      toasts.fail(error);
      return false;
    } finally {
      this.busy = false;
    }
  }
}

/** Returns the edit key of a skill. */
export function editKey(skill: SkillRef): string {
  return `skill ${keyOf(skill)}`;
}

/** Returns the edit key of a suggestion. */
export function suggestionKey(id: string): string {
  return `suggestion ${id}`;
}
