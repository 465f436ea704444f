/** An event at a time. Events of the same time happen in the order in which they were scheduled. */
export interface Scheduled {
  time: number;
  order: number;
}

/** A binary heap that returns the next event in O(log n). */
export class EventQueue<E extends Scheduled> {
  #heap: E[] = [];
  #orders = 0;

  get size(): number {
    return this.#heap.length;
  }

  push(event: E): void {
    event.order = this.#orders++;
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent] as E)) break;
      heap[at] = heap[parent] as E;
      at = parent;
    }
    heap[at] = event;
  }

  pop(): E | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const smaller = right < heap.length && isBefore(heap[right] as E, heap[left] as E) ? right : left;
      if (!isBefore(heap[smaller] as E, last)) break;
      heap[at] = heap[smaller] as E;
      at = smaller;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(left: Scheduled, right: Scheduled): boolean {
  return left.time < right.time || (left.time === right.time && left.order < right.order);
}
