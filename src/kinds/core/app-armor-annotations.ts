import { equalJson } from "../../api/json.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { containersOf } from "./validation/container.ts";
import { appArmorPrefix, appArmorProfileOf } from "./validation/pod-annotations.ts";
import { validateAppArmorProfile } from "./validation/security-context.ts";

/**
 * Gives containers the profiles that the deprecated annotations of a new pod name, unless they have profiles of their own
 * or the pod's is the same. Warns of annotations that name another profile or none.
 */
export function adoptAppArmorAnnotations({ metadata, spec }: Pod, warn: (text: string) => void): void {
  const { annotations = {} } = metadata;
  if (spec === undefined || spec.os?.name === "windows") return;
  for (const { container } of containersOf(spec, "spec")) {
    const key = appArmorPrefix + container.name;
    const annotation = annotations[key];
    if (annotation === undefined || container.securityContext?.appArmorProfile !== undefined) continue;
    const named = appArmorProfileOf(annotation);
    const profile = validateAppArmorProfile(named, "").length === 0 ? named : undefined;
    if (profile !== undefined && equalJson(profile, spec.securityContext?.appArmorProfile)) continue;
    if (profile !== undefined) container.securityContext = { ...container.securityContext, appArmorProfile: profile };
    warn(`metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
  }
}
