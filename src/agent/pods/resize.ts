import { compareQuantities, parseQuantity } from "../../api/quantity.ts";
import type { Container, Pod } from "../../api/types/core-v1.ts";
import { containersOf } from "./pod-containers.ts";
import { type Applied, latestRun, type PodView } from "./pod-view.ts";

type Resources = NonNullable<Container["resources"]>;

/** Resources that a running container can get more or less of. */
const resizable = ["cpu", "memory"] as const;

/** Reports whether a container of the pod runs with other resources than its spec says. */
export function isResizing(view: Pick<PodView, "pod" | "containers" | "applied">): boolean {
  return containersOf(view.pod).some(({ spec, role }) => {
    const run = latestRun(view, spec.name);
    const applied = view.applied.get(spec.name);
    const isRunning = run?.state.kind === "running" && applied?.containerId === run.id;
    return isRunning && role !== "ephemeral" && needsUpdate(spec, applied);
  });
}

/** Reports whether a running container has other resources than its spec says. */
export function needsUpdate(spec: Container, { resources }: Applied): boolean {
  return resizable.some((name) => differ(name, spec.resources, resources));
}

/** Reports whether the container has to restart to get the resources of its spec. */
export function restartsForUpdate(spec: Container, { resources }: Applied): boolean {
  const policies = spec.resizePolicy ?? [];
  return policies.some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === "RestartContainer" && differ(resourceName, spec.resources, resources),
  );
}

/** Returns the text of an Event about a resize, with the resources that the spec asks for. */
export function resizeText(title: string, { metadata: { generation = 0 }, spec }: Pod, error = ""): string {
  const summary = (containers: readonly Container[] | null | undefined) =>
    (containers ?? []).map(({ name, resources = {} }) => ({ name, resources }));
  const initContainers = summary(spec?.initContainers);
  const containers = summary(spec?.containers);
  const document = {
    ...(initContainers.length === 0 ? {} : { initContainers }),
    ...(containers.length === 0 ? {} : { containers }),
    generation: Number(generation),
    ...(error === "" ? {} : { error }),
  };
  return `${title}: ${JSON.stringify(document)}`;
}

function differ(name: string, a: Resources | undefined, b: Resources | undefined): boolean {
  return !equal(a?.requests?.[name], b?.requests?.[name]) || !equal(a?.limits?.[name], b?.limits?.[name]);
}

function equal(a: string | undefined, b: string | undefined): boolean {
  if (a === b) return true;
  return a !== undefined && b !== undefined && compareQuantities(parseQuantity(a), parseQuantity(b)) === 0;
}
