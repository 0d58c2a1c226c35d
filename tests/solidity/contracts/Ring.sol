// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// A queue in a ring: indexes in a struct, a loop that empties it.
contract Ring {
    struct Bounds {
        uint head;
        uint size;
    }

    uint constant CAPACITY = 8;
    mapping(uint => uint) slots;
    Bounds bounds;

    function push(uint item) public {
        require(bounds.size < CAPACITY);
        slots[(bounds.head + bounds.size) % CAPACITY] = item;
        bounds.size += 1;
        assert(bounds.size <= CAPACITY); // expect: safe
    }

    function pop() public returns (uint item) {
        require(bounds.size > 0);
        item = slots[bounds.head];
        bounds.head = (bounds.head + 1) % CAPACITY;
        bounds.size -= 1;
    }

    function drain() public {
        while (bounds.size > 0) {
            pop();
        }
        assert(bounds.size == 0); // expect: safe
    }

    function inside() public view {
        assert(bounds.head < CAPACITY && bounds.size <= CAPACITY); // expect: safe
        assert(bounds.head == 0); // expect: unsafe
    }
}
