import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

/** Where the picture is in its window: a shift in pixels, and a scale. */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

const least = 0.12;
const most = 2.5;

/** The view that shows all of a picture. A small picture is not enlarged; text is not made smaller than `smallest`. */
export function fitted(picture: Size, window: Size, smallest = least): View {
  const scale = Math.min(1, Math.max(smallest, Math.min(window.width / picture.width, window.height / picture.height)));
  return {
    scale,
    x: Math.max(0, (window.width - picture.width * scale) / 2),
    y: Math.max(0, (window.height - picture.height * scale) / 2),
  };
}

/** A view with another scale. The point of the window at `x`, `y` keeps its place. */
export function zoomed(view: View, factor: number, x: number, y: number): View {
  const scale = Math.min(most, Math.max(least, view.scale * factor));
  const real = scale / view.scale;
  return { scale, x: x - (x - view.x) * real, y: y - (y - view.y) * real };
}

/** The view in which a box of the picture is within the window, moved as little as needed. */
export function showing(view: View, box: { x: number; y: number } & Size, window: Size): View {
  const moved = (shift: number, from: number, size: number, room: number): number => {
    const margin = 12;
    const begin = shift + from * view.scale;
    const end = begin + size * view.scale;
    if (begin < margin) return shift + margin - begin;
    return end > room - margin ? shift - Math.min(end - room + margin, begin - margin) : shift;
  };
  return {
    scale: view.scale,
    x: moved(view.x, box.x - box.width / 2, box.width, window.width),
    y: moved(view.y, box.y - box.height / 2, box.height, window.height),
  };
}

/** Moves and scales the picture by pointers: dragged by one, scaled by two or by the wheel with Ctrl. */
export function usePointers(window: RefObject<HTMLElement | null>, change: (next: (view: View) => View) => void) {
  const pointers = useRef(new Map<number, { x: number; y: number }>());
  const wasDragged = useRef(false);
  useEffect(() => {
    const element = window.current;
    if (element === null) return undefined;
    const wheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      change((view) => zoomed(view, Math.exp(-event.deltaY / 300), event.clientX - left, event.clientY - top));
    };
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  }, []);
  return useMemo(() => {
    const end = (event: PointerEvent): void => void pointers.current.delete(event.pointerId);
    return {
      onPointerDown: (event: PointerEvent): void => {
        if (event.button !== 0) return;
        if (pointers.current.size === 0) wasDragged.current = false;
        pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
      },
      onPointerMove: (event: PointerEvent): void => {
        const before = pointers.current.get(event.pointerId);
        const element = window.current;
        if (before === undefined || element === null) return;
        const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
        if (!wasDragged.current && Math.hypot(dx, dy) < 4) return;
        // Captured from here on only: a capture at once would take the click from the link.
        if (!wasDragged.current) element.setPointerCapture(event.pointerId);
        wasDragged.current = true;
        const now = { x: event.clientX, y: event.clientY };
        const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
        pointers.current.set(event.pointerId, now);
        if (other === undefined) return change((view) => ({ ...view, x: view.x + dx, y: view.y + dy }));
        const { left, top } = element.getBoundingClientRect();
        const distance = (from: { x: number; y: number }): number =>
          Math.hypot(from.x - other.x, from.y - other.y) || 1;
        change((view) => zoomed(view, distance(now) / distance(before), other.x - left, other.y - top));
      },
      onPointerUp: end,
      onPointerCancel: end,
      // The end of a drag is no click on the link below the pointer.
      onClickCapture: (event: Event): void => {
        if (wasDragged.current) event.preventDefault();
        wasDragged.current = false;
      },
      // Otherwise the browser drags the link.
      onDragStart: (event: Event): void => event.preventDefault(),
    };
  }, []);
}

/** The size of an element, as it changes. */
export function useSize(of: RefObject<HTMLElement | null>): Size | undefined {
  const [size, setSize] = useState<Size>();
  useEffect(() => {
    if (of.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setSize({ width: entry.contentRect.width, height: entry.contentRect.height });
    });
    observer.observe(of.current);
    return () => observer.disconnect();
  }, []);
  return size;
}
