/** What Octo remembers, and the two files every session starts with. */
import { baseName } from "$lib/format/figures";
import { asApiError, call } from "$lib/ipc";
import type { ApiError, MemoryCard, MemorySheet, PersonaFile, PersonaKind } from "$lib/ipc/types";
import { same, type MemoryText } from "$lib/state/memories";
import { t } from "$lib/words/words.svelte";
import { SvelteMap } from "svelte/reactivity";
import { edits } from "./edits.svelte";
import { navigation } from "./navigation.svelte";
import { offerBack } from "./restoring";
import type { Reading } from "./timeline.svelte";
import { toasts } from "./toasts.svelte";

/** What the right side shows. */
export type MemoryLook =
  | { readonly type: "persona"; readonly kind: PersonaKind }
  | { readonly type: "memory"; readonly file: string }
  | { readonly type: "new" };

/** A memory that is edited; a new one began with no file and no version. */
export class MemoryEdit {
  topic = $state("");
  description = $state("");
  body = $state("");
  /** What it began with. */
  base = $state.raw<MemoryText>({ topic: "", description: "", body: "" });
  /** The version it is a change of. */
  version = $state<string | null>(null);
  /** Why it could not be saved. */
  problem = $state.raw<ApiError | null>(null);

  constructor(sheet: MemorySheet | null) {
    if (sheet) this.take(sheet);
  }

  /** Begins with what the file says. */
  take(sheet: MemorySheet): void {
    this.base = textOf(sheet);
    ({ topic: this.topic, description: this.description, body: this.body } = this.base);
    this.version = sheet.version;
    this.problem = null;
  }

  get text(): MemoryText {
    return { topic: this.topic, description: this.description, body: this.body };
  }

  /** Whether there is something of it that is not in the file. */
  get unsaved(): boolean {
    return !same(this.text, this.base);
  }
}

/** The words of a memory. */
export function textOf(sheet: MemorySheet): MemoryText {
  return { topic: sheet.card.topic, description: sheet.card.description, body: sheet.body };
}

/** Memories that were edited and not saved, by file; the new one is of none. They outlive the page. */
const memoryEdits = new SvelteMap<string | null, MemoryEdit>();

/** The page of memories while it is open. */
export class Memorybook {
  memories = $state.raw<readonly MemoryCard[]>([]);
  persona = $state.raw<readonly PersonaFile[]>([]);
  opened = $state(false);
  problem = $state.raw<ApiError | null>(null);
  query = $state("");
  look = $state.raw<MemoryLook | null>(null);
  sheet = $state.raw<Reading<MemorySheet>>({ type: "reading" });
  busy = $state(false);
  #turn = 0;
  #sheetTurn = 0;

  /** Reads everything that is shown, again. */
  async refresh(): Promise<void> {
    const turn = ++this.#turn;
    try {
      const [memories, persona] = await Promise.all([
        call("memory", "list_memories", { query: this.query.trim() }),
        call("memory", "get_persona", {}),
      ]);
      if (turn !== this.#turn) return;
      this.memories = memories.memories;
      this.persona = persona.files;
      this.problem = null;
      this.opened = true;
      await this.again();
    } catch (error) {
      if (turn === this.#turn) this.problem = asApiError(error);
    }
  }

  showPersona(kind: PersonaKind): void {
    this.look = { type: "persona", kind };
  }

  /** Shows nothing of the list. */
  close(): void {
    this.look = null;
  }

  /** Goes through SOUL.md, USER.md and the memories in a conversation. */
  curate(): void {
    navigation.command("onboard", navigation.folder);
  }

  /** Begins a new memory, or goes on with the one that was begun. */
  begin(): void {
    if (!memoryEdits.has(null)) memoryEdits.set(null, new MemoryEdit(null));
    this.look = { type: "new" };
  }

  async show(file: string): Promise<void> {
    if (this.look?.type === "memory" && this.look.file === file) return;
    this.look = { type: "memory", file };
    this.sheet = { type: "reading" };
    await this.#read(file);
  }

  async #read(file: string): Promise<void> {
    const turn = ++this.#sheetTurn;
    const still = (): boolean => turn === this.#sheetTurn && this.look?.type === "memory" && this.look.file === file;
    try {
      const value = await call("memory", "get_memory", { file });
      if (still()) this.sheet = { type: "read", value };
    } catch (error) {
      if (still()) this.sheet = { type: "failed", error: asApiError(error) };
    }
  }

  /** Reads the memory that is shown again. */
  async again(): Promise<void> {
    if (this.look?.type === "memory") await this.#read(this.look.file);
  }

  /** What is being edited of a file; null while nothing is. */
  edit(file: string | null): MemoryEdit | null {
    return memoryEdits.get(file) ?? null;
  }

  beginEdit(sheet: MemorySheet): void {
    if (!memoryEdits.has(sheet.card.file)) memoryEdits.set(sheet.card.file, new MemoryEdit(sheet));
  }

  /** Lets what was typed go. */
  drop(file: string | null): void {
    memoryEdits.delete(file);
    if (file === null && this.look?.type === "new") this.close();
  }

  /** Writes a memory. What was typed stays where it cannot be written, for whatever reason. */
  async save(file: string | null): Promise<boolean> {
    const edit = memoryEdits.get(file);
    if (!edit || this.busy) return false;
    this.busy = true;
    edit.problem = null;
    try {
      const { topic, description, body } = edit.text;
      const value = await call("memory", "save_memory", {
        file,
        topic: topic.trim(),
        description: description.trim(),
        body,
        version: edit.version,
      });
      memoryEdits.delete(file);
      this.look = { type: "memory", file: value.card.file };
      this.sheet = { type: "read", value };
      toasts.show(t("memory.saved", { topic: value.card.topic }));
      await this.refresh();
      return true;
    } catch (error) {
      edit.problem = asApiError(error);
      // It may have been changed meanwhile: what it says now is shown beside what was typed.
      await this.again();
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** Puts a memory into the trash and offers the way back. */
  async remove(card: MemoryCard): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      await call("memory", "delete_memory", { file: card.file });
      memoryEdits.delete(card.file);
      this.close();
      await Promise.all([
        this.refresh(),
        offerBack("memory", [card.file, card.topic], t("memory.deleted", { topic: card.topic })),
      ]);
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.busy = false;
    }
  }

  /** Writes SOUL.md or USER.md and offers the way back; nothing at all brings Octo's own words back. */
  async savePersona(kind: PersonaKind, text: string, how: "written" | "taken_back" = "written"): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      const before = this.persona.find((known) => known.kind === kind);
      this.persona = (await call("memory", "save_persona", { kind, text })).files;
      edits.delete(personaKey(kind));
      const file = t(`persona.${kind}`);
      // What was emptied lies in the trash.
      if (how === "written" && before && before.text.trim() !== "" && text.trim() === "")
        await offerBack("file", [baseName(before.path)], t("persona.emptied", { file }));
      else {
        const undo = (): void => void this.savePersona(kind, before?.text ?? "", "taken_back");
        toasts.show(t("persona.saved", { file }), { label: t("toast.undo"), run: undo });
      }
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.busy = false;
    }
  }
}

/** What the edited text of SOUL.md or USER.md is kept by. */
export function personaKey(kind: PersonaKind): string {
  return `persona ${kind}`;
}
