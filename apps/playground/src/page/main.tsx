import './buffer';
import { render } from 'preact';
import '../../../console/src/style/tokens.css';
import '../../../console/src/style/base.css';
import '../../../console/src/style/parts.css';
import '../../../console/src/drawing/drawing.css';

const root = document.getElementById('playground');
if (root !== null) render(<h1>x</h1>, root);
