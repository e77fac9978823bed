/** Companion models the presets name for a model: offered, never added automatically. Pure. */
import type { CompanionRole, ModelEntry, ModelFacts, PresetInfo } from "$lib/ipc/types";

/** A model that could be added as a companion. */
export interface CompanionOffer {
  readonly role: CompanionRole;
  /** The vendor's name for it. */
  readonly name: string;
  /** The known facts about it. */
  readonly facts: ModelFacts | null;
}

/** Returns the companions the presets name for a model, without those already chosen. */
export function offersFor(
  entry: ModelEntry,
  preset: PresetInfo | null,
  light: string | null,
): readonly CompanionOffer[] {
  const model = preset?.models.find(({ name }) => name === entry.model);
  if (!preset || !model) return [];
  const offer = (role: CompanionRole, name: string | null): readonly CompanionOffer[] => {
    if (name === null || name === entry.model) return [];
    return [{ role, name, facts: preset.models.find((other) => other.name === name)?.facts ?? null }];
  };
  return [
    ...(light === null ? offer("light", model.light) : []),
    ...(entry.fallback === null ? offer("fallback", model.fallback) : []),
  ];
}
