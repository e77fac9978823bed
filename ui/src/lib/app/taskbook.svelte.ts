/** The page of tasks while it is open. */
import { asApiError, call } from "$lib/ipc";
import type { ApiError, Switch, TaskCard } from "$lib/ipc/types";
import { nameOf, planOf } from "$lib/state/schedule";
import { blankForm, formOf, type TaskForm, tomorrowOf } from "$lib/state/task-form";
import { t, type WordKey } from "$lib/words/words.svelte";
import { navigation } from "./navigation.svelte";
import { preferences } from "./preferences.svelte";
import { offerBack } from "./restoring";
import { TaskEdit, taskEdits } from "./task-edit.svelte";
import { toasts } from "./toasts.svelte";

/** What the right side shows. */
export type TaskLook =
  { readonly type: "runs" } | { readonly type: "task"; readonly file: string } | { readonly type: "new" };

export class Taskbook {
  cards = $state.raw<readonly TaskCard[]>([]);
  /** The zone of this computer. */
  zone = $state("");
  /** Whether tasks run at their times at all. */
  atTheirTimes = $state<Switch>("on");
  /** Whether they were read; until then nothing is said about how many there are. */
  opened = $state(false);
  problem = $state.raw<ApiError | null>(null);
  look = $state.raw<TaskLook>({ type: "runs" });
  /** What is being done, so that it is not asked for twice. */
  busy = $state(false);
  readonly current = $derived.by(() => {
    const { look } = this;
    return look.type === "task" ? (this.cards.find((card) => card.file === look.file) ?? null) : null;
  });
  #turn = 0;

  /** Reads everything that is shown, again. */
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
      // One that is gone is shown no more, unless something of it was typed.
      if (this.look.type === "task" && this.current === null && !taskEdits.has(this.look.file)) this.close();
    } catch (error) {
      if (turn === this.#turn) this.problem = asApiError(error);
    }
  }

  show(file: string): void {
    this.look = { type: "task", file };
  }

  /** Shows no single task. */
  close(): void {
    this.look = { type: "runs" };
  }

  /** Has Octo write a task from what is said in a session that is not started yet. */
  describe(): void {
    navigation.command("cron-task-creator", navigation.folder);
  }

  /** Begins a new task, or goes on with the one that was begun. */
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
    this.look = { type: "new" };
  }

  /** What is being edited of a file; null while nothing is. */
  edit(file: string | null): TaskEdit | null {
    return taskEdits.get(file) ?? null;
  }

  beginEdit(card: TaskCard): void {
    const plan = planOf(card);
    if (plan && !taskEdits.has(card.file))
      taskEdits.set(card.file, new TaskEdit(card.file, formOf(plan, tomorrowOf(Date.now())), card.version));
  }

  /** Lets what was typed go. */
  drop(file: string | null): void {
    taskEdits.delete(file);
    if (this.look.type !== "runs" && this.current === null) this.close();
  }

  /** Writes a task; whether that could be done. What was typed stays where it cannot be written. */
  async save(edit: TaskEdit): Promise<boolean> {
    const { plan } = edit.reading;
    edit.asked = true;
    if (this.busy || plan === null || !edit.right) return false;
    this.busy = true;
    edit.problem = null;
    // One whose file is gone is written anew.
    const there = this.cards.some((card) => card.file === edit.file);
    try {
      const card = await call("schedule", "save_task", {
        task: there ? edit.file : null,
        plan,
        version: there ? edit.version : null,
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

  /** Lets a task that came into the home run, as it was seen. */
  async accept(card: TaskCard): Promise<void> {
    await this.#change(
      () => call("schedule", "accept_task", { task: card.file, version: card.version }),
      "tasks.accepted",
      nameOf(card),
    );
  }

  /** Pauses a task, or lets it run at its times again. */
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

  /** Writes a second task like one, and shows it. */
  async duplicate(card: TaskCard): Promise<void> {
    await this.#do(async () => {
      const made = await call("schedule", "duplicate_task", { task: card.file });
      this.#put(made);
      this.show(made.file);
    });
    await this.refresh();
  }

  /** Puts a task into the trash and offers the way back. */
  async remove(card: TaskCard): Promise<void> {
    const name = nameOf(card);
    const gone = await this.#do(() => call("schedule", "delete_task", { task: card.file }));
    if (!gone) return;
    taskEdits.delete(card.file);
    this.close();
    await Promise.all([
      this.refresh(),
      offerBack("task", [card.file, `${card.file}.md`, name], t("tasks.deleted", { name })),
    ]);
  }

  #put(card: TaskCard): void {
    const known = this.cards.some(({ file }) => file === card.file);
    this.cards = known ? this.cards.map((other) => (other.file === card.file ? card : other)) : [...this.cards, card];
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
