import type { Labels } from "./exposition.ts";

/** Combinations of labels that a metric has. Names are chosen by users, so further ones are counted as `other`. */
const seriesMax = 1_024;

/** Returns a function that keeps the children of a metric by their labels. */
export function boundSeries<Child>(
  make: (labels: Labels) => Child,
  nameLabels: readonly string[] = ["name"],
): (labels: Labels) => Child {
  const children = new Map<string, Child>();
  const others = Object.fromEntries(nameLabels.map((label) => [label, "other"]));
  return (labels) => {
    const own = JSON.stringify(labels);
    const known = children.get(own);
    if (known !== undefined) return known;
    const shown = children.size < seriesMax ? labels : { ...labels, ...others };
    const key = JSON.stringify(shown);
    let child = children.get(key);
    if (child === undefined) {
      child = make(shown);
      children.set(key, child);
    }
    return child;
  };
}
