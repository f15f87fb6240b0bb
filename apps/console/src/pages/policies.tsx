import { PageHead } from '../ui/parts';

/** The page `policies`. */
export default function Page() {
  return <PageHead title="policies" />;
}
