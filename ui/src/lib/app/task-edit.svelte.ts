/** Tasks that are edited and not saved, by file; the new one is of none. They outlive the page. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, TaskCard, TaskPlan, TaskPreview } from "$lib/ipc/types";
import { planOf } from "$lib/state/schedule";
import { type FormFault, formOf, type PlanField, readForm, type TaskForm, tomorrowOf } from "$lib/state/task-form";
import { SvelteMap, SvelteSet } from "svelte/reactivity";

/** How long typing pauses before the core is asked what it means, in milliseconds. */
const PAUSE = 250;

/** What is wrong with a field: found here at once, or by the core a moment later. */
export type FieldFault =
  { readonly type: "form"; readonly fault: FormFault } | { readonly type: "core"; readonly error: ApiError };

/** What the core says to a plan. */
interface Seen {
  /** Of which plan, as JSON. */
  readonly of: string;
  readonly preview: TaskPreview;
}

export class TaskEdit {
  form: TaskForm;
  /** The version of the file it is a change of; null for a new one. */
  version = $state<string | null>(null);
  /** Why it could not be saved. */
  problem = $state.raw<ApiError | null>(null);
  /** Why the core could not be asked. */
  unseen = $state.raw<ApiError | null>(null);
  /** Whether all that is wrong is shown, not only what was changed. */
  asked = $state(false);
  readonly file: string | null;
  readonly reading = $derived.by(() => readForm(this.form));
  #base = $state("");
  #seen = $state.raw<Seen | null>(null);
  readonly #touched = new SvelteSet<PlanField>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #turn = 0;

  constructor(file: string | null, form: TaskForm, version: string | null) {
    this.file = file;
    this.form = $state(form);
    this.version = version;
    this.#base = JSON.stringify(form);
    // What is saved already is right or known to be wrong; of a new one nothing is said before it is written.
    this.asked = file !== null;
  }

  /** Whether something of it is not in the file. */
  get unsaved(): boolean {
    return JSON.stringify(this.form) !== this.#base;
  }

  /** Begins again with what a card says now. */
  take(card: TaskCard): void {
    const plan = planOf(card);
    if (!plan) return;
    this.form = formOf(plan, tomorrowOf(Date.now()));
    this.#base = JSON.stringify(this.form);
    this.version = card.version;
    this.problem = null;
  }

  /** Changes fields of the form; `field` is the one of the plan they make. */
  change(field: PlanField, change: Partial<TaskForm>): void {
    Object.assign(this.form, change);
    this.#touched.add(field);
    this.problem = null;
  }

  /** What the core says to the plan as it is now; null while that is not known. */
  get preview(): TaskPreview | null {
    const { plan } = this.reading;
    return plan !== null && this.#seen?.of === JSON.stringify(plan) ? this.#seen.preview : null;
  }

  /** What the core said last, also to what was typed before: it stays until the next answer. */
  get lastPreview(): TaskPreview | null {
    return this.reading.plan === null ? null : (this.#seen?.preview ?? null);
  }

  /** What is wrong with a field and is to be shown. */
  fault(field: PlanField): FieldFault | null {
    if (!this.asked && !this.#touched.has(field)) return null;
    const fault = this.reading.faults.get(field);
    if (fault !== undefined) return { type: "form", fault };
    const found = this.preview?.errors.find((known) => known.field === field);
    return found ? { type: "core", error: found.error } : null;
  }

  /** What the core finds wrong with what is no field of the form. */
  get others(): readonly ApiError[] {
    const { plan } = this.reading;
    if (!this.asked || plan === null) return [];
    return (this.preview?.errors ?? []).filter(({ field }) => !(field in plan)).map(({ error }) => error);
  }

  /** Whether nothing is known to be wrong. */
  get right(): boolean {
    return this.reading.faults.size === 0 && (this.preview?.errors.length ?? 0) === 0;
  }

  /** Asks the core what the form means, once typing pauses. */
  look(): void {
    clearTimeout(this.#timer);
    const { plan } = this.reading;
    const turn = ++this.#turn;
    if (plan === null || this.preview !== null) return;
    this.#timer = setTimeout(() => void this.#ask(plan, turn), PAUSE);
  }

  async #ask(plan: TaskPlan, turn: number): Promise<void> {
    try {
      const preview = await call("schedule", "preview_task", { plan });
      if (turn !== this.#turn) return;
      this.#seen = { of: JSON.stringify(plan), preview };
      this.unseen = null;
    } catch (error) {
      if (turn === this.#turn) this.unseen = asApiError(error);
    }
  }
}

/** The tasks that are edited. */
export const taskEdits = new SvelteMap<string | null, TaskEdit>();
