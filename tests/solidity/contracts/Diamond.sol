// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Several bases with a common one: `super` follows the linear order.
contract Base {
    uint internal level;

    function raise() public virtual {
        require(level < 100);
        level += 1;
    }
}

abstract contract Left is Base {
    function raise() public virtual override {
        uint before = level;
        super.raise();
        assert(level > before); // expect: safe
    }
}

abstract contract Right is Base {
    function raise() public virtual override {
        super.raise();
        level += 1;
    }
}

contract Diamond is Left, Right {
    function raise() public override(Left, Right) {
        super.raise();
        assert(level <= 101); // expect: safe
        assert(level % 2 == 1); // expect: unsafe
    }
}
