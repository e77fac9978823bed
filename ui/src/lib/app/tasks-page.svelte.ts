/** The state of the tasks page while it is open. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, Switch, TaskCard } from "$lib/ipc/types";
import { nameOf, planOf } from "$lib/state/schedule";
import { blankForm, formOf, type TaskForm, tomorrowOf } from "$lib/state/task-form";
import { t, type WordKey } from "$lib/words/words.svelte";
import { navigation } from "./navigation.svelte";
import { preferences } from "./preferences.svelte";
import { offerUndo } from "./trash-undo";
import { TaskEdit, taskEdits } from "./task-edit.svelte";
import { toasts } from "./toasts.svelte";

/** The content of the right pane. */
export type TaskSelection =
  { readonly type: "runs" } | { readonly type: "task"; readonly file: string } | { readonly type: "new" };

export class TasksPage {
  cards = $state.raw<readonly TaskCard[]>([]);
  /** This computer's time zone. */
  zone = $state("");
  /** Whether scheduled tasks are enabled. */
  atTheirTimes = $state<Switch>("on");
  /** Whether the tasks are loaded; until then no count is shown. */
  opened = $state(false);
  problem = $state.raw<ApiError | null>(null);
  selection = $state.raw<TaskSelection>({ type: "runs" });
  /** Whether a request is running, so that no second one is sent. */
  busy = $state(false);
  readonly current = $derived.by(() => {
    const { selection } = this;
    return selection.type === "task" ? (this.cards.find((card) => card.file === selection.file) ?? null) : null;
  });
  #turn = 0;

  /** Reloads everything on the page. */
  async refresh(): Promise<void> {
    const turn = ++this.#turn;
    try {
      const { tasks, zone, at_their_times } = await call("schedule", "list_tasks", {});
      if (turn !== this.#turn) return;
      this.cards = tasks;
      this.zone = zone;
      this.atTheirTimes = at_their_times;
      this.problem = null;
      this.opened = true;
      // Closes a task that was removed, unless it has unsaved edits.
      if (this.selection.type === "task" && this.current === null && !taskEdits.has(this.selection.file)) this.close();
    } catch (error) {
      if (turn === this.#turn) this.problem = asApiError(error);
    }
  }

  show(file: string): void {
    this.selection = { type: "task", file };
  }

  /** Deselects the task. */
  close(): void {
    this.selection = { type: "runs" };
  }

  /** Starts a new session in which the person describes a task and Octo writes it. */
  describe(): void {
    navigation.command("cron-task-creator", navigation.folder);
  }

  /** Starts a new task, or resumes its edit. */
  begin(from: Partial<TaskForm> | null = null): void {
    const { settings } = preferences;
    if (!taskEdits.has(null) || from !== null) {
      const form = blankForm({
        zone: this.zone,
        folder: navigation.folder ?? "",
        profile: settings?.default_profile ?? "general",
        mode: settings?.default_mode ?? "ask_risky",
        tomorrow: tomorrowOf(Date.now()),
      });
      const { missed, tell } = settings?.tasks ?? form;
      taskEdits.set(null, new TaskEdit(null, { ...form, missed, tell, ...from }, null));
    }
    this.selection = { type: "new" };
  }

  /** Returns the edit of a file; null without one. */
  edit(file: string | null): TaskEdit | null {
    return taskEdits.get(file) ?? null;
  }

  beginEdit(card: TaskCard): void {
    const plan = planOf(card);
    if (plan && !taskEdits.has(card.file))
      taskEdits.set(card.file, new TaskEdit(card.file, formOf(plan, tomorrowOf(Date.now())), card.version));
  }

  /** Discards an edit. */
  drop(file: string | null): void {
    taskEdits.delete(file);
    if (this.selection.type !== "runs" && this.current === null) this.close();
  }

  /** Saves a task; returns whether that succeeded. On failure the form keeps its input. */
  async save(edit: TaskEdit): Promise<boolean> {
    const { plan } = edit.reading;
    edit.showsAllErrors = true;
    if (this.busy || plan === null || !edit.right) return false;
    this.busy = true;
    edit.problem = null;
    // Creates the task again if its file was removed.
    const exists = this.cards.some((card) => card.file === edit.file);
    try {
      const card = await call("schedule", "save_task", {
        task: exists ? edit.file : null,
        plan,
        version: exists ? edit.version : null,
      });
      taskEdits.delete(edit.file);
      this.#put(card);
      this.show(card.file);
      toasts.show(t("tasks.saved", { name: plan.name }));
      return true;
    } catch (error) {
      edit.problem = asApiError(error);
      return false;
    } finally {
      this.busy = false;
      await this.refresh();
    }
  }

  /** Accepts a task that was copied into the home, in the version shown. */
  async accept(card: TaskCard): Promise<void> {
    await this.#change(
      () => call("schedule", "accept_task", { task: card.file, version: card.version }),
      "tasks.accepted",
      nameOf(card),
    );
  }

  /** Pauses or resumes a task. */
  async turn(card: TaskCard, on: Switch): Promise<void> {
    await this.#change(() => call("schedule", "switch_task", { task: card.file, on }));
  }

  /** Runs a task now. */
  async run(card: TaskCard): Promise<void> {
    await this.#do(async () => {
      const run = await call("schedule", "run_task", { task: card.file });
      const { session } = run;
      toasts.show(
        t("tasks.started", { name: run.name }),
        session === null ? undefined : { label: t("tasks.open_session"), run: () => navigation.session(session) },
      );
    });
    await this.refresh();
  }

  /** Creates a copy of a task and selects it. */
  async duplicate(card: TaskCard): Promise<void> {
    await this.#do(async () => {
      const copy = await call("schedule", "duplicate_task", { task: card.file });
      this.#put(copy);
      this.show(copy.file);
    });
    await this.refresh();
  }

  /** Moves a task to the trash and offers to undo it. */
  async remove(card: TaskCard): Promise<void> {
    const name = nameOf(card);
    const deleted = await this.#do(() => call("schedule", "delete_task", { task: card.file }));
    if (!deleted) return;
    taskEdits.delete(card.file);
    this.close();
    await Promise.all([
      this.refresh(),
      offerUndo("task", [card.file, `${card.file}.md`, name], t("tasks.deleted", { name })),
    ]);
  }

  #put(card: TaskCard): void {
    const exists = this.cards.some(({ file }) => file === card.file);
    this.cards = exists ? this.cards.map((other) => (other.file === card.file ? card : other)) : [...this.cards, card];
  }

  async #change(request: () => Promise<TaskCard>, words: WordKey | null = null, name = ""): Promise<void> {
    const done = await this.#do(async () => this.#put(await request()));
    if (done && words !== null) toasts.show(t(words, { name }));
    await this.refresh();
  }

  async #do(request: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    try {
      await request();
      return true;
    } catch (error) {
      toasts.fail(error);
      return false;
    } finally {
      this.busy = false;
    }
  }
}
