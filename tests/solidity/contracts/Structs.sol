// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Structs in storage and in memory, one inside another.
contract Structs {
    struct Range {
        uint low;
        uint high;
    }

    struct Named {
        Range range;
        bool used;
    }

    Named box;

    function set(uint a, uint b) public {
        require(a <= b);
        box.range = Range(a, b);
        box.used = true;
    }

    function ordered() public view {
        assert(box.range.low <= box.range.high); // expect: safe
    }

    function empty() public view {
        assert(box.used || box.range.high == 0); // expect: safe
    }

    function narrow() public view {
        Range memory copy = box.range;
        assert(copy.high - copy.low < 100); // expect: unsafe
    }
}
