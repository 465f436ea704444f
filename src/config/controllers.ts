import { StartupError } from "./startup-error.ts";

/** Controllers that can be switched off, by upstream's names. */
export const controllerNames = ["root-ca-certificate-publisher-controller", "serviceaccount-controller"] as const;

export type ControllerName = (typeof controllerNames)[number];

/**
 * Reads `--controllers`: `*` for all that are on by default, `name` to add one, `-name` to leave one out.
 * @throws StartupError for a name that there is not
 */
export function parseControllers(text: string): ReadonlySet<ControllerName> {
  const items = text.split(",").map((item) => item.trim());
  for (const item of items) {
    const name = item.startsWith("-") ? item.slice(1) : item;
    if (name === "*" || (controllerNames as readonly string[]).includes(name)) continue;
    throw new StartupError(
      `--controllers: ${JSON.stringify(name)} is not one of *, ${controllerNames.join(", ")}: check its spelling`,
    );
  }
  return new Set(
    controllerNames.filter((name) => items.includes(name) || (items.includes("*") && !items.includes(`-${name}`))),
  );
}
