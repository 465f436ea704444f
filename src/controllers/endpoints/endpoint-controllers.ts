import type { Clock } from "../../process/clock.ts";
import type { Registries } from "../../registry/registries.ts";
import type { Store } from "../../storage/store.ts";
import type { ControllerName } from "../controller-names.ts";
import { EventRecorder } from "../events/event-recorder.ts";
import { recordingWith } from "../events/record-event.ts";
import type { QueueSource } from "../work-queue.ts";
import { EndpointMirroring } from "./endpoint-mirroring.ts";
import { EndpointSlicesController } from "./endpoint-slices-controller.ts";
import { EndpointsController } from "./endpoints-controller.ts";
import type { SliceObserver } from "./slice-observer.ts";

export interface EndpointControllersParts extends QueueSource {
  readonly registries: Registries;
  readonly store: Store;
  readonly clock: Clock;
  readonly controllers: ReadonlySet<ControllerName>;
  readonly sliceObservers: { readonly services: SliceObserver; readonly mirrors: SliceObserver };
  readonly onError: (error: unknown) => void;
}

/** Starts the controllers that publish the addresses of the pods behind services. */
export function startEndpointControllers(parts: EndpointControllersParts): Disposable {
  const { registries, controllers, sliceObservers } = parts;
  const running = new DisposableStack();
  const core = (resource: string) => registries.builtIn({ group: "", resource });
  const found = {
    services: core("services"),
    endpoints: core("endpoints"),
    pods: core("pods"),
    nodes: core("nodes"),
    slices: registries.builtIn({ group: "discovery.k8s.io", resource: "endpointslices" }),
  };
  const as = (component: string) => {
    const recorder = running.use(new EventRecorder({ ...parts, events: core("events"), component }));
    return { ...parts, ...found, record: recordingWith(recorder) };
  };
  if (controllers.has("endpoints-controller")) {
    running.use(new EndpointsController(as("endpoint-controller")).start());
  }
  if (controllers.has("endpointslice-controller")) {
    const observer = sliceObservers.services;
    running.use(new EndpointSlicesController({ ...as("endpoint-slice-controller"), observer }).start());
  }
  if (controllers.has("endpointslice-mirroring-controller")) {
    const observer = sliceObservers.mirrors;
    running.use(new EndpointMirroring({ ...as("endpoint-slice-mirroring-controller"), observer }).start());
  }
  return running;
}
