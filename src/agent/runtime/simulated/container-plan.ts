import type { Container, Pod } from "../../../api/types/core-v1.ts";
import { thrownText } from "../../../process/thrown-text.ts";
import { type ContainerConfig, RuntimeError } from "../runtime.ts";
import { type Behaviour, completes, type Exit, runsOn, type Steps } from "./behaviour.ts";
import { parseSteps } from "./parse-rules.ts";
import { controllerKind, type SimulationRules, stepsByRule } from "./rules.ts";

/** Annotation with the steps of all containers of a pod. With `.` and the name of a container, of that one only. */
export const stepsAnnotation = "simulation.quorate/steps";

const stoppedBySignal = 143;

export interface ContainerPlan {
  readonly behaviour: Behaviour;
  /** The exit of a container whose behaviour does not name one, and whose command is not understood. */
  readonly exitOtherwise: Exit | "never";
}

const service: ContainerPlan = { behaviour: runsOn, exitOtherwise: "never" };
const work: ContainerPlan = {
  behaviour: { ...runsOn, stop: { ...runsOn.stop, code: stoppedBySignal } },
  exitOtherwise: completes,
};

/**
 * Returns the plan of a new run of a container. Annotations of the pod go before rules, and rules before defaults.
 * @throws RuntimeError for an annotation that cannot be read
 */
export function planContainer(
  rules: SimulationRules,
  pod: Pod,
  { spec }: Pick<ContainerConfig, "spec">,
  random: () => number,
): ContainerPlan {
  const plan = hasWork(pod, spec) ? work : service;
  const steps = {
    ...stepsByRule(rules, pod, { name: spec.name, image: spec.image ?? "" }, random),
    ...stepsByAnnotation(pod, stepsAnnotation),
    ...stepsByAnnotation(pod, `${stepsAnnotation}.${spec.name}`),
  };
  // Thousands of containers share the plan that no step changes.
  return Object.keys(steps).length === 0 ? plan : { ...plan, behaviour: { ...plan.behaviour, ...steps } };
}

/** An image whose program does nothing until it is stopped. */
const pauseImage = /(^|\/)pause([:@]|$)/;

/** Reports whether a container is expected to end: one of a Job, or one that others wait for. */
function hasWork({ metadata, spec }: Pod, { name, image = "" }: Container): boolean {
  if (pauseImage.test(image)) return false;
  const initial = spec?.initContainers?.find((one) => one.name === name);
  if (initial !== undefined) return initial.restartPolicy !== "Always";
  return controllerKind(metadata.ownerReferences) === "Job" && spec?.restartPolicy !== "Always";
}

function stepsByAnnotation({ metadata }: Pod, name: string): Steps {
  const text = metadata.annotations?.[name];
  if (text === undefined) return {};
  try {
    return parseSteps(text);
  } catch (error) {
    throw new RuntimeError("CreateContainerError", `annotation ${name}: ${thrownText(error)}`);
  }
}
