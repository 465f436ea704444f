import type { Labels } from "./exposition.ts";

/** The limit on label combinations per metric. Users choose some names, so further combinations count as `other`. */
const seriesMax = 1_024;

/** Returns a function that finds the child of a metric by its labels. */
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
