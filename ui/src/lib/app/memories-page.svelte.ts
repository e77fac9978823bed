/** Octo's memories, and the two files every session starts with. */
import { baseName } from "$lib/format/figures";
import { asApiError, call } from "$lib/ipc";
import type { ApiError, MemoryCard, MemorySheet, PersonaFile, PersonaKind } from "$lib/ipc/types";
import { same, type MemoryText } from "$lib/state/memories";
import { t } from "$lib/words/words.svelte";
import { SvelteMap } from "svelte/reactivity";
import { edits } from "./edits.svelte";
import { navigation } from "./navigation.svelte";
import { offerUndo } from "./trash-undo";
import type { Reading } from "./timeline.svelte";
import { toasts } from "./toasts.svelte";

/** The content of the right pane. */
export type MemorySelection =
  | { readonly type: "persona"; readonly kind: PersonaKind }
  | { readonly type: "memory"; readonly file: string }
  | { readonly type: "new" };

/** A memory being edited; a new one has no file and no version. */
export class MemoryEdit {
  topic = $state("");
  description = $state("");
  body = $state("");
  /** The text before the edit. */
  base = $state.raw<MemoryText>({ topic: "", description: "", body: "" });
  /** The version the edit is based on. */
  version = $state<string | null>(null);
  /** Why it could not be saved. */
  problem = $state.raw<ApiError | null>(null);

  constructor(sheet: MemorySheet | null) {
    if (sheet) this.take(sheet);
  }

  /** Starts from the file's content. */
  take(sheet: MemorySheet): void {
    this.base = textOf(sheet);
    ({ topic: this.topic, description: this.description, body: this.body } = this.base);
    this.version = sheet.version;
    this.problem = null;
  }

  get text(): MemoryText {
    return { topic: this.topic, description: this.description, body: this.body };
  }

  /** Whether the edit differs from the file. */
  get unsaved(): boolean {
    return !same(this.text, this.base);
  }
}

/** Returns the text of a memory. */
export function textOf(sheet: MemorySheet): MemoryText {
  return { topic: sheet.card.topic, description: sheet.card.description, body: sheet.body };
}

/** Unsaved edits of memories, by file; the new one has no file. They outlive the page. */
const memoryEdits = new SvelteMap<string | null, MemoryEdit>();

/** The state of the memories page while it is open. */
export class MemoriesPage {
  memories = $state.raw<readonly MemoryCard[]>([]);
  persona = $state.raw<readonly PersonaFile[]>([]);
  opened = $state(false);
  problem = $state.raw<ApiError | null>(null);
  query = $state("");
  selection = $state.raw<MemorySelection | null>(null);
  sheet = $state.raw<Reading<MemorySheet>>({ type: "reading" });
  busy = $state(false);
  #turn = 0;
  #sheetTurn = 0;

  /** Reloads everything on the page. */
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
    this.selection = { type: "persona", kind };
  }

  /** Deselects the list entry. */
  close(): void {
    this.selection = null;
  }

  /** Starts a conversation that reviews SOUL.md, USER.md and the memories. */
  curate(): void {
    navigation.command("onboard", navigation.folder);
  }

  /** Starts a new memory, or resumes its edit. */
  begin(): void {
    if (!memoryEdits.has(null)) memoryEdits.set(null, new MemoryEdit(null));
    this.selection = { type: "new" };
  }

  async show(file: string): Promise<void> {
    if (this.selection?.type === "memory" && this.selection.file === file) return;
    this.selection = { type: "memory", file };
    this.sheet = { type: "reading" };
    await this.#read(file);
  }

  async #read(file: string): Promise<void> {
    const turn = ++this.#sheetTurn;
    const isCurrent = (): boolean =>
      turn === this.#sheetTurn && this.selection?.type === "memory" && this.selection.file === file;
    try {
      const value = await call("memory", "get_memory", { file });
      if (isCurrent()) this.sheet = { type: "read", value };
    } catch (error) {
      if (isCurrent()) this.sheet = { type: "failed", error: asApiError(error) };
    }
  }

  /** Reloads the selected memory. */
  async again(): Promise<void> {
    if (this.selection?.type === "memory") await this.#read(this.selection.file);
  }

  /** Returns the edit of a file; null without one. */
  edit(file: string | null): MemoryEdit | null {
    return memoryEdits.get(file) ?? null;
  }

  beginEdit(sheet: MemorySheet): void {
    if (!memoryEdits.has(sheet.card.file)) memoryEdits.set(sheet.card.file, new MemoryEdit(sheet));
  }

  /** Discards an edit. */
  drop(file: string | null): void {
    memoryEdits.delete(file);
    if (file === null && this.selection?.type === "new") this.close();
  }

  /** Saves a memory. On any failure the edit is kept. */
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
      this.selection = { type: "memory", file: value.card.file };
      this.sheet = { type: "read", value };
      toasts.show(t("memory.saved", { topic: value.card.topic }));
      await this.refresh();
      return true;
    } catch (error) {
      edit.problem = asApiError(error);
      // It may have changed in the meantime: shows the current text next to the edit.
      await this.again();
      return false;
    } finally {
      this.busy = false;
    }
  }

  /** Moves a memory to the trash and offers to undo it. */
  async remove(card: MemoryCard): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      await call("memory", "delete_memory", { file: card.file });
      memoryEdits.delete(card.file);
      this.close();
      await Promise.all([
        this.refresh(),
        offerUndo("memory", [card.file, card.topic], t("memory.deleted", { topic: card.topic })),
      ]);
    } catch (error) {
      toasts.fail(error);
    } finally {
      this.busy = false;
    }
  }

  /** Saves SOUL.md or USER.md and offers to undo it; an empty text restores Octo's default. */
  async savePersona(kind: PersonaKind, text: string, origin: "written" | "taken_back" = "written"): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      const before = this.persona.find((file) => file.kind === kind);
      this.persona = (await call("memory", "save_persona", { kind, text })).files;
      edits.delete(personaKey(kind));
      const file = t(`persona.${kind}`);
      // The emptied text is in the trash.
      if (origin === "written" && before && before.text.trim() !== "" && text.trim() === "")
        await offerUndo("file", [baseName(before.path)], t("persona.emptied", { file }));
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

/** Returns the edit key of SOUL.md or USER.md. */
export function personaKey(kind: PersonaKind): string {
  return `persona ${kind}`;
}
