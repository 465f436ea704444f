import type { AppArmorProfile, EnvVar } from "../../api/types/core-v1.ts";
import { fractionWarnings } from "./fraction-warnings.ts";
import type { AnyContainer } from "./validation/placed-container.ts";
import { appArmorPrefix, appArmorProfileOf, seccompPrefix } from "./validation/pod-annotations.ts";

export interface ContainerSurroundings {
  readonly annotations: Readonly<Record<string, string>>;
  readonly annotationPath: string;
  readonly podProfile: AppArmorProfile | undefined;
  readonly isTemplate: boolean;
}

/** Warns about parts of a container that are valid but probably mistakes. */
export function containerWarnings(container: AnyContainer, field: string, around: ContainerSurroundings): string[] {
  const { limits, requests } = container.resources ?? {};
  return [
    ...profileWarnings(container, around),
    ...fractionWarnings(limits, `${field}.resources.limits`, ["memory"]),
    ...fractionWarnings(requests, `${field}.resources.requests`, ["memory"]),
    ...fractionWarnings(limits, `${field}.resources.limits`, ["ephemeral-storage"]),
    ...fractionWarnings(requests, `${field}.resources.requests`, ["ephemeral-storage"]),
    ...hiddenVariableWarnings(container.env ?? [], `${field}.env`),
  ];
}

/** Warns about profiles in annotations, which fields have replaced. */
function profileWarnings({ name, securityContext = {} }: AnyContainer, around: ContainerSurroundings): string[] {
  const { annotations, annotationPath, podProfile, isTemplate } = around;
  const warnings: string[] = [];
  const seccomp = seccompPrefix + name;
  if (securityContext.seccompProfile === undefined && Object.hasOwn(annotations, seccomp)) {
    const text = 'non-functional in v1.27+; use the "seccompProfile" field instead';
    warnings.push(`${annotationPath}[${seccomp}]: ${text}`);
  }
  const appArmor = appArmorPrefix + name;
  const annotation = annotations[appArmor];
  if (!isTemplate || securityContext.appArmorProfile !== undefined || annotation === undefined) return warnings;
  const meant = appArmorProfileOf(annotation);
  const isSame = podProfile?.type === meant?.type && podProfile?.localhostProfile === meant?.localhostProfile;
  if (podProfile !== undefined && isSame) return warnings;
  return [
    ...warnings,
    `${annotationPath}[${appArmor}]: deprecated since v1.30; use the "appArmorProfile" field instead`,
  ];
}

/** Warns about a variable that is set again, unless it is built from its earlier value. */
function hiddenVariableWarnings(variables: readonly EnvVar[], field: string): string[] {
  const seen = new Set<string>();
  return variables.flatMap(({ name, value = "", valueFrom }, at) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const reference = `$(${name})`;
    const isBuiltOnIt = valueFrom === undefined && value !== reference && value.includes(reference);
    if (isBuiltOnIt) return [];
    const text = `hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`;
    return [`${field}[${at}]: ${text}`];
  });
}
