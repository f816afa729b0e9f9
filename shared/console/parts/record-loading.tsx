import { Button, Skeleton } from "@mantine/core";
import { Link, type LinkProps } from "@tanstack/react-router";
import { NotFoundError } from "pennymail";
import { EmptyState } from "./empty-state.tsx";
import { ErrorNote } from "./error-note.tsx";

interface RecordLoadingProps {
  /** What the screen shows: "campaign". */
  noun: string;
  /** The screen that lists all of them. */
  list: NonNullable<LinkProps["to"]>;
  error: unknown;
}

/** In place of the screen of a record while it loads, and when it cannot be loaded. */
export function RecordLoading({ noun, list, error }: RecordLoadingProps) {
  if (error instanceof NotFoundError)
    return (
      <div className="page">
        <EmptyState title={`This ${noun} does not exist`}>
          <p>It may have been deleted, or the address is mistyped.</p>
          <Button component={Link} to={list} variant="default">
            Show all {noun}s
          </Button>
        </EmptyState>
      </div>
    );
  return <div className="page">{error ? <ErrorNote error={error} /> : <Skeleton h={240} />}</div>;
}
