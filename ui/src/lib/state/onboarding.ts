/** Onboarding: its steps, and the one shown when the window opens. Pure. */
import type { Manner, Onboarding, OnboardingStep, Settings, Source } from "$lib/ipc/types";

/** The steps, in order. */
export const STEPS = ["language", "model", "persona", "browser", "skills", "place", "first"] as const;

/** The manners offered. */
export const MANNERS = ["professional", "friendly", "concise", "creative", "own"] as const satisfies readonly Manner[];

/** The state of an onboarding that has not started, or is over. */
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

/** Returns the next step; null after the last. */
export function after(step: OnboardingStep): OnboardingStep | null {
  return STEPS[STEPS.indexOf(step) + 1] ?? null;
}

/** Returns the previous step; null before the first. */
export function before(step: OnboardingStep): OnboardingStep | null {
  return STEPS[STEPS.indexOf(step) - 1] ?? null;
}

/** The state known when the window opens. */
export interface Opening {
  readonly settings: Pick<Settings, "welcomed" | "onboarding" | "default_model">;
  /** The sources of the sessions of the first page. */
  readonly sources: readonly Source[];
}

/** Returns whether the window opens with onboarding: it never ran, or was left half-way. */
export function isDue({ settings, sources }: Opening): boolean {
  if (settings.onboarding.step !== null) return true;
  // A setup done only on the command line does not count as the person's choice.
  return !settings.welcomed && settings.default_model === null && sources.every((source) => source === "headless");
}

/** Returns the first step of onboarding: the language, but only if the system's is not available. */
export function beginning(systemLanguages: readonly string[]): OnboardingStep {
  return systemLanguages.some((name) => /^(?:en|zh|c)(?:$|[-_.])/i.test(name)) ? "model" : "language";
}

/** Returns whether the answers leave the assistant's persona unset, so that Octo's default applies. */
export function isPlain({ name, manner, soul }: Pick<Onboarding, "name" | "manner" | "soul">): boolean {
  return soul === null && name.trim() === "" && manner === "professional";
}
