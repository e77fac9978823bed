/** The skills as a folder sees them, what Octo proposes, and what can be done with both. */
import { asApiError, call } from "$lib/ipc";
import type {
  ApiError,
  SkillCard,
  SkillExported,
  SkillRef,
  SkillSheet,
  SkillSuggestion,
  SuggestionAnswer,
  Switch,
} from "$lib/ipc/types";
import { baseName } from "$lib/format/figures";
import { found, keyOf, type SkillSource } from "$lib/state/skills";
import { t } from "$lib/words/words.svelte";
import { edits } from "./edits.svelte";
import { offerBack } from "./restoring";
import type { Reading } from "./timeline.svelte";
import { toasts } from "./toasts.svelte";

/** What the right side shows. */
export type Look =
  { readonly type: "inbox" } | { readonly type: "skill"; readonly skill: SkillRef } | { readonly type: "import" };

/** The page of skills while it is open. */
export class Skillbook {
  skills = $state.raw<readonly SkillCard[]>([]);
  suggestions = $state.raw<readonly SkillSuggestion[]>([]);
  /** Whether they were read; until then nothing is said about how many there are. */
  opened = $state(false);
  problem = $state.raw<ApiError | null>(null);
  query = $state("");
  source = $state<SkillSource>("all");
  /** The folder whose skills are among them. */
  folder = $state<string | null>(null);
  look = $state.raw<Look>({ type: "inbox" });
  /** The suggestion that is shown. */
  suggestion = $state<string | null>(null);
  /** The skill that is shown, whole. */
  sheet = $state.raw<Reading<SkillSheet>>({ type: "reading" });
  /** What is being done, so that it is not asked for twice. */
  busy = $state(false);
  readonly shown = $derived(found(this.skills, this.source, this.query));
  readonly current = $derived(
    this.suggestions.find((known) => known.id === this.suggestion) ?? this.suggestions[0] ?? null,
  );
  #turn = 0;
  #sheetTurn = 0;

  constructor(folder: string | null) {
    this.folder = folder;
  }

  /** Reads everything that is shown, again. */
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
      if (this.look.type === "skill") await this.#readAgain(this.look.skill);
    } catch (error) {
      if (turn === this.#turn) this.problem = asApiError(error);
    }
  }

  /** A skill that is gone is shown no more, unless something of it was typed. */
  async #readAgain(skill: SkillRef): Promise<void> {
    const there = this.skills.some((card) => keyOf(card.skill) === keyOf(skill));
    if (there) await this.#read(skill);
    else if (!edits.has(editKey(skill))) this.inbox();
  }

  /** Looks at another folder's skills. */
  async enter(folder: string | null): Promise<void> {
    this.folder = folder;
    if (this.look.type === "skill" && this.look.skill.project !== null) this.inbox();
    await this.refresh();
  }

  inbox(): void {
    this.look = { type: "inbox" };
  }

  /** Shows a suggestion. */
  open(suggestion: string): void {
    this.suggestion = suggestion;
    this.inbox();
  }

  /** Shows a skill. */
  async show(skill: SkillRef): Promise<void> {
    if (this.look.type === "skill" && keyOf(this.look.skill) === keyOf(skill)) return;
    this.look = { type: "skill", skill };
    this.sheet = { type: "reading" };
    await this.#read(skill);
  }

  async #read(skill: SkillRef): Promise<void> {
    const turn = ++this.#sheetTurn;
    const still = (): boolean =>
      turn === this.#sheetTurn && this.look.type === "skill" && keyOf(this.look.skill) === keyOf(skill);
    try {
      const value = await call("skills", "get_skill", { skill });
      if (still()) this.sheet = { type: "read", value };
    } catch (error) {
      if (still()) this.sheet = { type: "failed", error: asApiError(error) };
    }
  }

  /** Reads the skill that is shown again. */
  async again(): Promise<void> {
    if (this.look.type === "skill") await this.#read(this.look.skill);
  }

  /** Turns a skill on or off, or lets the agent start it by itself or not. */
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

  /** Accepts a skill that came with a folder, as it was seen. */
  async accept(skill: SkillRef, seen: string): Promise<void> {
    await this.#do(() => call("skills", "accept_skill", { skill, seen }), "skills.accepted", skill.name);
    await this.refresh();
  }

  /** Writes a SKILL.md that says `from`; whether that could be done. */
  async save(skill: SkillRef, from: string, text: string): Promise<boolean> {
    const saved = await this.#do(
      async () => {
        const value = await call("skills", "save_skill", { skill, from, text });
        edits.delete(editKey(skill));
        // Its name may be another one now.
        this.look = { type: "skill", skill: value.card.skill };
        this.sheet = { type: "read", value };
      },
      "skills.saved",
      skill.name,
    );
    await this.refresh();
    return saved;
  }

  /** The text of an earlier version. */
  async version(skill: SkillRef, number: number): Promise<string> {
    return (await call("skills", "get_skill_version", { skill, number })).text;
  }

  /** Puts a skill into the trash and offers the way back. */
  async remove(card: SkillCard): Promise<void> {
    const { skill, folder } = card;
    const gone = await this.#do(() => call("skills", "delete_skill", { skill }));
    if (!gone) return;
    edits.delete(editKey(skill));
    this.inbox();
    await Promise.all([
      this.refresh(),
      offerBack("skill", [skill.name, baseName(folder)], t("skills.deleted", { name: skill.name })),
    ]);
  }

  /** Writes a skill as an archive; null when that could not be done. */
  async export(skill: SkillRef, to: string): Promise<SkillExported | null> {
    let exported: SkillExported | null = null;
    await this.#do(async () => {
      exported = await call("skills", "export_skill", { skill, to });
    });
    return exported;
  }

  /** Says what becomes of a suggestion. */
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

/** What the edited text of a skill is kept by. */
export function editKey(skill: SkillRef): string {
  return `skill ${keyOf(skill)}`;
}

/** What the edited text of a suggestion is kept by. */
export function suggestionKey(id: string): string {
  return `suggestion ${id}`;
}
