/** Models the presets name beside another: offered, never taken by themselves. Pure. */
import type { CompanionRole, ModelEntry, ModelFacts, PresetInfo } from "$lib/ipc/types";

/** A model that could be connected beside another. */
export interface Offer {
  readonly role: CompanionRole;
  /** The vendor's name of it. */
  readonly name: string;
  /** What is known of it. */
  readonly facts: ModelFacts | null;
}

/** What the presets name beside a model and nobody chose yet. */
export function offersFor(entry: ModelEntry, preset: PresetInfo | null, light: string | null): readonly Offer[] {
  const model = preset?.models.find(({ name }) => name === entry.model);
  if (!preset || !model) return [];
  const offer = (role: CompanionRole, name: string | null): readonly Offer[] => {
    if (name === null || name === entry.model) return [];
    return [{ role, name, facts: preset.models.find((other) => other.name === name)?.facts ?? null }];
  };
  return [
    ...(light === null ? offer("light", model.light) : []),
    ...(entry.fallback === null ? offer("fallback", model.fallback) : []),
  ];
}
