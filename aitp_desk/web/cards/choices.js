// The options of a request for a decision (AITP-02): names, prices and descriptions.

import { oneLine } from "./card.js";
import { counted, language, text } from "../texts.js";
import { el, link, picture, safeAddress } from "../dom.js";

/**
 * List the options of a request, each with its variants, for choice and summary.
 *
 * An option that has variants and no price is only their heading.
 */
export function groupsOf(request) {
  return request.options.map((option) => {
    const name = oneLine(option.name) || oneLine(option.short_variant_name) || oneLine(option.id);
    const own = choiceOf(option, name, name);
    const kinds = (option.variants ?? []).map((variant) => {
      const short = oneLine(variant.short_variant_name);
      const full = oneLine(variant.name) || (short ? `${name} – ${short}` : oneLine(variant.id));
      return choiceOf(variant, full, short || full);
    });
    return { own, kinds, isHeading: kinds.length > 0 && !option.quote };
  });
}

function choiceOf(given, name, label) {
  const plans = given.quote?.payment_plans ?? [];
  const prices = plans.map((plan) => money(plan.amount, plan.currency));
  const ends = Date.parse(given.quote?.valid_until);
  const plan = plans.length === 1 ? plans[0] : null;
  return { ...given, name, label, price: oneOf(prices), plan, hasLapsed: ends < Date.now() };
}

/** Return the name of one or several. */
export function countedName(name, quantity = 1) {
  return quantity === 1 ? name : `${quantity} × ${name}`;
}

/** Describe one of several options. */
export function oneOf(words) {
  return words.length ? words.reduce((one, other) => text("or", { one, other })) : "";
}

export function money(amount, currency) {
  return new Intl.NumberFormat(language(), { style: "currency", currency }).format(amount);
}

/** The description of an option next to its name, where there is one. */
export function about(choice) {
  const { five_star_rating: rating, reviews_count: reviews } = choice;
  const rated = [
    Number.isFinite(rating) && text("stars", { rating }),
    Number.isInteger(reviews) && counted("reviews", reviews),
  ].filter(Boolean);
  const stars = "★".repeat(Math.min(Math.max(Math.floor(rating) || 0, 0), 5)).padEnd(5, "☆");
  return [
    choice.description && el("span", { class: "about" }, choice.description),
    rated.length > 0 &&
      el(
        "span",
        { class: "rating" },
        Number.isFinite(rating) && el("span", { class: "stars", "aria-hidden": "true" }, stars),
        ` ${rated.join(", ")}`,
      ),
    choice.hasLapsed && el("span", { class: "about" }, text("priceEnded")),
  ];
}

/** A link to an option's page, which opens without leaving the conversation. */
export function details(choice) {
  if (!choice.url || !safeAddress(choice.url)) return null;
  const named = { class: "details", "aria-label": `${text("details")}: ${choice.name}` };
  return link(choice.url, text("details"), { ...named, target: "_blank" });
}

/** The name of an option, in an element of a tag, with its price if there is one. */
export function headOf(tag, name, price) {
  const told = el(tag, { class: "name" }, name);
  return el("span", { class: "head" }, told, price && el("span", { class: "price" }, price));
}

/** One row of a list of options, with its input. */
export function optionOf(choice, label, input) {
  input.disabled = choice.hasLapsed;
  return el(
    "li",
    { class: "option" },
    el(
      "label",
      {},
      input,
      picture(choice.image_url),
      el("span", { class: "told" }, headOf("span", label, choice.price), ...about(choice)),
    ),
    details(choice),
  );
}
