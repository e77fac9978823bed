/** Time machine steps, their file changes, and why something cannot be undone, as text. */
import type { Done } from "$lib/app/timeline.svelte";
import type {
  ComparedSide,
  UnrestorableReason,
  LastingEffects,
  LastingEffect,
  StepView,
  UnsavedReason,
} from "$lib/ipc/types";
import { type Restore, movesSession } from "$lib/state/restore";
import { language, sentences, t, tn } from "$lib/words/words.svelte";
import { clock, dayAndMonth, midnight } from "./figures";
import { permissions, diskSize } from "./size";

/** Returns the name of a step. */
export function taskName(task: StepView): string {
  if (task.kind === "run" || task.kind === "checkpoint") {
    return task.summary.trim() === "" ? t("time.task", { n: task.number }) : task.summary;
  }
  return t(`time.kind.${task.kind}`);
}

/** Formats a step's number, time, changes and irreversible effects: 7 · 14:09 · 2 files · 1 cannot be undone. */
export function taskFacts(task: StepView, now: number): string {
  const today = midnight(task.started_at) === midnight(now);
  const time = clock(task.started_at, language());
  return [
    ...(task.kind === "run" ? [String(task.number)] : []),
    today ? time : `${dayAndMonth(task.started_at, language())} ${time}`,
    ...(task.changed > 0 ? [tn("count.files", task.changed)] : []),
    ...(task.lasting > 0 ? [tn("time.lasting_count", task.lasting)] : []),
  ].join(" · ");
}

/** Explains why content was not saved, as the end of a sentence. */
export function whyUnsaved(why: UnsavedReason): string {
  return t(`time.unsaved.${why}`);
}

/** Describes the kind of an irreversible effect, and how often it happened. */
export function lastingWords(effect: LastingEffect): string {
  const kind = t(`time.lasting.${effect.kind}`);
  return effect.times > 1 ? `${kind}${t("list.clause")}${tn("time.lasting_times", effect.times)}` : kind;
}

/** Returns the number of irreversible effects, listed or not. */
export function lastingCount({ marks, more }: LastingEffects): number {
  return marks.length + more;
}

/** Explains why a path cannot be restored. */
export function whyImpossible(why: UnrestorableReason): string {
  return "why" in why
    ? t(`time.impossible.${why.type}`, { why: whyUnsaved(why.why) })
    : t(`time.impossible.${why.type}`);
}

/** Describes one side of a comparison; permissions only if they matter. */
export function sideWords(side: ComparedSide, detail: "size" | "permissions"): string {
  switch (side.type) {
    case "file":
      return detail === "size"
        ? diskSize(side.len)
        : t("time.side.mode", { size: diskSize(side.len), mode: permissions(side.mode) });
    case "unsaved":
      return t("time.side.unsaved", { why: whyUnsaved(side.why) });
    default:
      return t(`time.side.${side.type}`);
  }
}

/** Returns the label of the restore button. */
export function goWords(task: StepView, restore: Pick<Restore, "scope" | "selection">): string {
  if (!movesSession({ ...restore, task: task.number })) return t("time.go.files");
  if (task.kind === "start") return t("time.go.start");
  return task.kind === "run" ? t("time.go.task", { n: task.number }) : t("time.go.state");
}

/** Describes a completed restore, for a toast. */
export function doneWords({ restore, task, report }: Done, direction: "there" | "back"): string {
  const stepName = (): string => {
    if (direction === "back") return t("time.done.back");
    if (!movesSession(restore)) return t("time.done.files");
    if (task?.kind === "start") return t("time.done.start");
    return task?.kind === "run" ? t("time.done.task", { n: task.number }) : t("time.done.state");
  };
  return sentences(
    stepName(),
    ...(report.changed > 0 ? [tn("time.done.changed", report.changed)] : []),
    ...(report.kept.length > 0 ? [tn("time.done.kept", report.kept.length)] : []),
    ...(report.impossible.length > 0 ? [tn("time.done.impossible", report.impossible.length)] : []),
  );
}
