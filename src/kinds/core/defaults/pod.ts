import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../../../api/json.ts";
import { formatQuantity } from "../../../api/quantity.ts";
import { objectsOf } from "../../../api/json-reading.ts";
import { type Amounts, addAmounts, amountsOf, raiseAmounts, roundResourceList } from "./resource-list.ts";

const containerLists = ["containers", "initContainers"] as const;

/** Sets the defaults of pods that pod templates do not have. */
export function defaultPod(pod: JsonObject): void {
  const spec = pod["spec"];
  if (!isJsonObject(spec)) return;
  spec["enableServiceLinks"] ??= true;
  for (const list of containerLists) {
    for (const container of objectsOf(spec[list])) {
      requestWhatIsLimited(container);
      if (spec["hostNetwork"] === true) useContainerPortsOnHost(container);
    }
  }
  if (isJsonObject(spec["resources"])) defaultPodResources(spec, spec["resources"]);
}

/** Sets the defaults of every pod spec, also inside templates. Plain values come from the generated data. */
export function defaultPodSpec(spec: JsonObject): void {
  mirrorServiceAccount(spec);
  const grace = spec["terminationGracePeriodSeconds"];
  if (typeof grace === "number" && grace < 0) spec["terminationGracePeriodSeconds"] = 1;
  roundResourceList(spec["overhead"]);
}

/** The field has an old name, which is accepted and always shows the same. */
function mirrorServiceAccount(spec: JsonObject): void {
  const name = spec["serviceAccountName"] || spec["serviceAccount"];
  if (typeof name !== "string" || name === "") return;
  spec["serviceAccountName"] = name;
  spec["serviceAccount"] = name;
}

function requestWhatIsLimited(container: JsonObject): void {
  const resources = container["resources"];
  if (!isJsonObject(resources) || !isJsonObject(resources["limits"])) return;
  addMissing(resources, "requests", Object.entries(resources["limits"]));
}

/** On the host's network a container's port is the host's port. */
function useContainerPortsOnHost(container: JsonObject): void {
  for (const port of objectsOf(container["ports"])) {
    if (port["containerPort"] !== undefined) port["hostPort"] ||= port["containerPort"];
  }
}

/** Amounts for the pod as a whole, where the containers and the pod's limits imply them. */
function defaultPodResources(spec: JsonObject, resources: JsonObject): void {
  const ofContainers = podTotalOf(spec, "limits");
  const asked = isJsonObject(resources["requests"]) ? resources["requests"] : {};
  const hugePages = [...ofContainers].filter(([name]) => isHugePages(name) && !Object.hasOwn(asked, name));
  if (hugePages.length > 0) addMissing(resources, "limits", textsOf(hugePages));

  const limits = resources["limits"];
  if (!isJsonObject(limits)) return;
  const requests = [...podTotalOf(spec, "requests")].filter(([name]) => name === "cpu" || name === "memory");
  if (requests.length > 0) addMissing(resources, "requests", textsOf(requests));
  const limited = Object.entries(limits).filter(([name]) => isPodResource(name));
  addMissing(resources, "requests", limited);
}

/** Reports whether a pod as a whole can have an amount of the resource. */
function isPodResource(name: string): boolean {
  return name === "cpu" || name === "memory" || isHugePages(name);
}

/**
 * Returns the amounts that the containers need together. Init containers run one after the other before the others,
 * next to those of them that keep running.
 */
export function podTotalOf(spec: JsonObject, field: "limits" | "requests"): Amounts {
  const total: Amounts = new Map();
  for (const container of objectsOf(spec["containers"])) addAmounts(total, containerAmounts(container, field));
  const running: Amounts = new Map();
  const starting: Amounts = new Map();
  for (const container of objectsOf(spec["initContainers"])) {
    const amounts = containerAmounts(container, field);
    if (container["restartPolicy"] === "Always") {
      addAmounts(running, amounts);
      raiseAmounts(starting, running);
    } else {
      addAmounts(amounts, running);
      raiseAmounts(starting, amounts);
    }
  }
  addAmounts(total, running);
  raiseAmounts(total, starting);
  return total;
}

function containerAmounts(container: JsonObject, field: "limits" | "requests"): Amounts {
  const resources = container["resources"];
  return isJsonObject(resources) ? amountsOf(resources[field]) : new Map();
}

function textsOf(amounts: readonly (readonly [string, Parameters<typeof formatQuantity>[0]])[]): [string, string][] {
  return amounts.map(([name, amount]) => [name, formatQuantity(amount)]);
}

function isHugePages(name: string): boolean {
  return name.startsWith("hugepages-");
}

function addMissing(resources: JsonObject, field: "limits" | "requests", amounts: [string, JsonValue][]): void {
  const given = resources[field];
  const list = isJsonObject(given) ? given : emptyJsonObject();
  for (const [name, amount] of amounts) if (!Object.hasOwn(list, name)) list[name] = amount;
  if (Object.keys(list).length > 0) resources[field] = list;
}
