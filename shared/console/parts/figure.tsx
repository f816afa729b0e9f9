import type { ReactNode } from "react";

interface FigureProps {
  label: string;
  value: string;
  /** Compares or explains the value. */
  children?: ReactNode;
}

/** A number that people look for. */
export function Figure({ label, value, children }: FigureProps) {
  return (
    <div className="figure">
      <p>{label}</p>
      <strong>{value}</strong>
      {children}
    </div>
  );
}
