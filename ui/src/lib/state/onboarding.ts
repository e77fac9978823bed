/** The first run: its steps, and which of them is shown when the window opens. Pure. */
import type { Manner, Onboarding, OnboardingStep, Settings, Source } from "$lib/ipc/types";

/** The steps, in order. */
export const STEPS = ["language", "model", "persona", "browser", "skills", "place", "first"] as const;

/** The manners to choose from. */
export const MANNERS = ["professional", "friendly", "concise", "creative", "own"] as const satisfies readonly Manner[];

/** A first run that was not begun, or is over. */
export const NOTHING: Onboarding = {
  step: null,
  model: null,
  name: "",
  manner: "professional",
  manner_words: "",
  about: "",
  soul: null,
  user: null,
  folder: "",
};

/** The step after another; null after the last. */
export function after(step: OnboardingStep): OnboardingStep | null {
  return STEPS[STEPS.indexOf(step) + 1] ?? null;
}

/** The step before another; null before the first. */
export function before(step: OnboardingStep): OnboardingStep | null {
  return STEPS[STEPS.indexOf(step) - 1] ?? null;
}

/** What is known when the window opens. */
export interface Opening {
  readonly settings: Pick<Settings, "welcomed" | "onboarding" | "default_model">;
  /** Who began each session of the first page. */
  readonly sources: readonly Source[];
}

/** Whether the window opens with the first run: nobody went through it, or it was left half-way. */
export function isDue({ settings, sources }: Opening): boolean {
  if (settings.onboarding.step !== null) return true;
  // What was done from a command line alone chose nothing for the person.
  return !settings.welcomed && settings.default_model === null && sources.every((source) => source === "headless");
}

/** Where a first run begins: with the language only where the system's is none of ours. */
export function beginning(systemLanguages: readonly string[]): OnboardingStep {
  return systemLanguages.some((name) => /^(?:en|zh|c)(?:$|[-_.])/i.test(name)) ? "model" : "language";
}

/** Whether the answers about the assistant say nothing: Octo's own words hold then. */
export function isPlain({ name, manner, soul }: Pick<Onboarding, "name" | "manner" | "soul">): boolean {
  return soul === null && name.trim() === "" && manner === "professional";
}
