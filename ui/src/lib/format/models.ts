/** Known facts about a model, as a line of text. */
import type { ModelFacts, PriceFacts } from "$lib/ipc/types";
import { t } from "$lib/words/words.svelte";
import { tokens } from "./figures";

/** Formats nano-dollars as dollars: $15.00, $0.30, $0.0028. */
export function dollars(nano: number): string {
  const amount = nano / 1e9;
  if (amount === 0 || amount >= 0.095) return `$${amount.toFixed(2)}`;
  return `$${Number(amount.toPrecision(2)).toFixed(12).replace(/0+$/, "")}`;
}

/** Formats the price per million tokens. */
export function priceLine(price: PriceFacts | null): string {
  if (!price || price.input === null || price.output === null) return t("model.price_unknown");
  if (price.input === 0 && price.output === 0) return t("model.price_free");
  const figures = { input: dollars(price.input), output: dollars(price.output) };
  const line =
    price.cache_read === null
      ? t("model.price", figures)
      : t("model.price_cached", { ...figures, cached: dollars(price.cache_read) });
  return price.more_above === null
    ? line
    : `${line}${t("list.clause")}${t("model.price_more", { tokens: tokens(price.more_above) })}`;
}

/** Returns context window, vision and price; for a model missing from the table, the assumed values. */
export function factsLine(facts: ModelFacts): string {
  const window = tokens(facts.context_window);
  if (!facts.known && !facts.price) return t("model.unknown_facts", { window });
  if (!facts.known) return [t("model.context_assumed", { window }), priceLine(facts.price)].join(" · ");
  const parts = [
    t("model.context", { window }),
    t(facts.vision ? "model.sees" : "model.blind"),
    ...(facts.tools ? [] : [t("model.no_tools")]),
    priceLine(facts.price),
  ];
  return parts.join(" · ");
}
