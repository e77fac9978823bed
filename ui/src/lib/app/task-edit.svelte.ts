/** Unsaved edits of tasks, by file; the new one has no file. They outlive the page. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, TaskCard, TaskPlan, TaskPreview } from "$lib/ipc/types";
import { planOf } from "$lib/state/schedule";
import { type FormFault, formOf, type PlanField, readForm, type TaskForm, tomorrowOf } from "$lib/state/task-form";
import { SvelteMap, SvelteSet } from "svelte/reactivity";

/** How long typing must pause before the core checks the plan, in milliseconds. */
const PAUSE = 250;

/** A field's error: found here at once, or by the core a moment later. */
export type FieldFault =
  { readonly type: "form"; readonly fault: FormFault } | { readonly type: "core"; readonly error: ApiError };

/** The core's answer to a plan. */
interface CheckedPlan {
  /** The plan it applies to, as JSON. */
  readonly of: string;
  readonly preview: TaskPreview;
}

export class TaskEdit {
  form: TaskForm;
  /** The version the edit is based on; null for a new task. */
  version = $state<string | null>(null);
  /** Why it could not be saved. */
  problem = $state.raw<ApiError | null>(null);
  /** Why the core's check failed. */
  checkProblem = $state.raw<ApiError | null>(null);
  /** Whether to show all errors, not only those of changed fields. */
  showsAllErrors = $state(false);
  readonly file: string | null;
  readonly reading = $derived.by(() => readForm(this.form));
  #base = $state("");
  #checked = $state.raw<CheckedPlan | null>(null);
  readonly #touched = new SvelteSet<PlanField>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #turn = 0;

  constructor(file: string | null, form: TaskForm, version: string | null) {
    this.file = file;
    this.form = $state(form);
    this.version = version;
    this.#base = JSON.stringify(form);
    // A saved task shows its errors at once; a new one shows none before the person types.
    this.showsAllErrors = file !== null;
  }

  /** Whether the edit differs from the file. */
  get unsaved(): boolean {
    return JSON.stringify(this.form) !== this.#base;
  }

  /** Restarts from a card's current content. */
  take(card: TaskCard): void {
    const plan = planOf(card);
    if (!plan) return;
    this.form = formOf(plan, tomorrowOf(Date.now()));
    this.#base = JSON.stringify(this.form);
    this.version = card.version;
    this.problem = null;
  }

  /** Changes fields of the form; `field` is the plan field they make up. */
  change(field: PlanField, change: Partial<TaskForm>): void {
    Object.assign(this.form, change);
    this.#touched.add(field);
    this.problem = null;
  }

  /** The core's answer to the current plan; null until it arrives. */
  get preview(): TaskPreview | null {
    const { plan } = this.reading;
    return plan !== null && this.#checked?.of === JSON.stringify(plan) ? this.#checked.preview : null;
  }

  /** The core's last answer, possibly to an earlier input: kept until the next one. */
  get lastPreview(): TaskPreview | null {
    return this.reading.plan === null ? null : (this.#checked?.preview ?? null);
  }

  /** Returns the error to show at a field. */
  fault(field: PlanField): FieldFault | null {
    if (!this.showsAllErrors && !this.#touched.has(field)) return null;
    const fault = this.reading.faults.get(field);
    if (fault !== undefined) return { type: "form", fault };
    const problem = this.preview?.errors.find((error) => error.field === field);
    return problem ? { type: "core", error: problem.error } : null;
  }

  /** Errors the core found outside the form's fields. */
  get others(): readonly ApiError[] {
    const { plan } = this.reading;
    if (!this.showsAllErrors || plan === null) return [];
    return (this.preview?.errors ?? []).filter(({ field }) => !(field in plan)).map(({ error }) => error);
  }

  /** Whether there is no known error. */
  get right(): boolean {
    return this.reading.faults.size === 0 && (this.preview?.errors.length ?? 0) === 0;
  }

  /** Asks the core to check the plan once typing pauses. */
  check(): void {
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
      this.#checked = { of: JSON.stringify(plan), preview };
      this.checkProblem = null;
    } catch (error) {
      if (turn === this.#turn) this.checkProblem = asApiError(error);
    }
  }
}

/** The tasks being edited. */
export const taskEdits = new SvelteMap<string | null, TaskEdit>();
