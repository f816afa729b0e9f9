import { type ReactNode, useId } from "react";

interface CardProps {
  title: string;
  /** Beside the title, such as whether a change is saved. Screen readers announce it. */
  state?: string;
  className?: string;
  children: ReactNode;
}

/** A part of a page with a heading. */
export function Card({ title, state, className = "", children }: CardProps) {
  const heading = useId();
  return (
    <section className={`card ${className}`} aria-labelledby={heading}>
      <h2>
        <span id={heading}>{title}</span>
        {state !== undefined && <small role="status">{state}</small>}
      </h2>
      {children}
    </section>
  );
}
